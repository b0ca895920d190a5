// The ways in which files come: the button, the clipboard, a drop. What deals with them is loaded with the first one.

import { $, icon, make } from "./dom.js";
import { say, sizeOf } from "./words.js";

const KEPT = "bowerbird.files.";

export class Attach {
  // told: {announce(text), changed()}
  constructor(told) {
    this.told = told;
    this.chat = "";
    this.tray = null;
    this.button = $("#attach");
    this.picker = $("#picker");
    this.button.append(icon("clip"));
    this.button.addEventListener("click", () => this.picker.click());
    this.picker.addEventListener("change", () => (this.add([...this.picker.files]), (this.picker.value = "")));
    document.addEventListener("paste", (event) => this.pasted(event));
    this.listenForDrops();
    this.limit({ files: 0, file_bytes: 0 });
  }

  limit(limits) {
    this.limits = limits;
    const told = limits.files ? say("attach_limits", { count: limits.files, size: sizeOf(limits.file_bytes) }) : say("attach");
    this.button.setAttribute("aria-label", told);
    this.button.title = told;
  }

  get isEmpty() {
    return !this.tray?.items.length;
  }

  // Whether something is still on its way, or has to be sent anew first.
  get isBusy() {
    return Boolean(this.tray?.isBusy);
  }

  // Whether something stands in the way of sending; it says so itself.
  complains() {
    return Boolean(this.tray?.complains());
  }

  take() {
    return this.tray?.take() || [];
  }

  open(chat) {
    this.chat = chat;
    let kept = null;
    try {
      kept = localStorage.getItem(KEPT + chat);
    } catch {
      // without storage nothing was kept
    }
    if (this.tray) this.tray.open(chat);
    else if (kept) this.load();
  }

  // Whatever is open once they are dealt with, they belong to this chat.
  async add(files, folders = [], chat = this.chat) {
    if (files.length || folders.length) (await this.load()).add(files, folders, chat);
  }

  // A message that was not sent comes back.
  async restore(files, chat = this.chat) {
    if (files?.length) (await this.load()).restore(files, chat);
  }

  load() {
    this.loading ??= import("./tray.js").then(({ Tray }) => {
      this.tray = new Tray(this, KEPT);
      this.tray.open(this.chat);
      return this.tray;
    });
    return this.loading;
  }

  pasted(event) {
    const files = [...(event.clipboardData?.files || [])];
    // what an office program copies is text that also comes as a picture
    if (!files.length || event.clipboardData.types.includes("text/plain") || document.querySelector("dialog[open]")) return;
    event.preventDefault();
    this.add(files);
  }

  listenForDrops() {
    const veil = make("div", { id: "drop", hidden: true }, make("p", {}, icon("clip"), make("span"), make("span", { class: "faint" })));
    document.body.append(veil);
    const holdsFiles = (event) => Boolean(event.dataTransfer?.types.includes("Files")) && !document.querySelector("dialog[open]");
    document.addEventListener("dragenter", (event) => {
      if (!holdsFiles(event)) return;
      const [words, limits] = veil.querySelectorAll("span");
      words.textContent = say("drop_here");
      limits.textContent = this.limits.files ? say("limits", { count: this.limits.files, size: sizeOf(this.limits.file_bytes) }) : "";
      veil.hidden = false;
    });
    document.addEventListener("dragover", (event) => holdsFiles(event) && (event.preventDefault(), (event.dataTransfer.dropEffect = "copy")));
    document.addEventListener("dragleave", (event) => event.relatedTarget || (veil.hidden = true));
    document.addEventListener("drop", (event) => {
      veil.hidden = true;
      if (!holdsFiles(event)) return;
      event.preventDefault();
      const folders = [...event.dataTransfer.items].map((one) => one.webkitGetAsEntry?.()).filter((one) => one?.isDirectory).map((one) => one.name);
      this.add([...event.dataTransfer.files].filter((file) => !folders.includes(file.name)), folders);
    });
  }
}
