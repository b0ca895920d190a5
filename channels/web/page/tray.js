// What is attached and not sent yet: each file is uploaded as soon as it is here, shows how far it is, and can be taken back.

import { $, icon, make } from "./dom.js";
import { keepOwn } from "./files.js";
import { say, sizeOf } from "./words.js";

const AT_ONCE = 3;
// The server keeps a file for an hour; after so long it is sent there again.
const STALE = 50 * 60 * 1000;

export class Tray {
  // attach: {told: {announce, changed}, limits, button}; kept: the prefix under which the storage remembers uploads
  constructor(attach, kept) {
    this.attach = attach;
    this.kept = kept;
    this.trays = new Map();
    this.blobs = new Map();
    this.list = make("ul", { "aria-label": say("attached") });
    this.problems = make("div", { class: "problems", role: "alert" });
    this.limits = make("p", { class: "faint" });
    this.element = $("#tray");
    this.element.append(this.list, this.limits, this.problems);
  }

  get items() {
    return this.of(this.chat);
  }

  // The files of a chat; what a reload forgot comes from the storage.
  of(chat) {
    if (!this.trays.has(chat)) this.trays.set(chat, this.remembered(chat).map((known) => new Item(this, known)));
    return this.trays.get(chat);
  }

  get isBusy() {
    return this.items.some((item) => !item.file && !item.failure);
  }

  open(chat) {
    this.chat = chat;
    this.problems.replaceChildren();
    this.paint();
  }

  add(files, folders, chat) {
    this.problems.replaceChildren();
    const { files: most, file_bytes: largest } = this.attach.limits;
    const items = this.of(chat);
    const before = items.length;
    for (const name of folders) this.refuse(say("no_folders", { name }));
    for (const blob of files) {
      if (blob.size === 0) this.refuse(say("file_empty", { name: blob.name }));
      else if (largest && blob.size > largest) this.refuse(say("file_large", { name: blob.name, size: sizeOf(blob.size), limit: sizeOf(largest) }));
      else if (most && items.length >= most) this.refuse(say("files_many", { name: blob.name, limit: most }));
      else items.push(new Item(this, { name: blob.name || say("a_file"), media_type: blob.type, size: blob.size }, blob));
    }
    const names = items.slice(before).map((item) => item.name);
    if (names.length) this.attach.told.announce(say("was_attached", { names: names.join(", ") }));
    this.paint();
    this.upload();
  }

  restore(files, chat) {
    const blobs = files.map(({ file }) => this.blobs.get(file));
    if (blobs.every(Boolean)) return this.add(blobs, [], chat);
    this.of(chat).push(...files.map((known) => new Item(this, known)));
    this.paint();
  }

  refuse(sentence) {
    this.problems.append(make("p", {}, icon("alert"), make("span", { dir: "auto", text: sentence }),
      make("button", { type: "button", class: "icon", "aria-label": say("dismiss"), title: say("dismiss"), on: { click: (event) => event.currentTarget.parentNode.remove() } }, icon("close"))));
  }

  // True when a file stands in the way of sending: the keyboard goes there.
  complains() {
    for (const item of this.items.filter((one) => one.isStale)) item.renew();
    this.upload();
    const failed = this.items.find((item) => item.failure);
    if (!failed) return false;
    this.attach.told.announce(say("upload_failed", { name: failed.name, why: failed.failure }));
    failed.element.querySelector(".quiet:not([hidden]), .remove").focus();
    return true;
  }

  take() {
    const taken = this.items.map(({ file, name, media_type, size, seen, blob }) => {
      keepOwn(file, seen);
      if (blob) this.blobs.set(file, blob);
      return { file, name, media_type, size };
    });
    this.trays.set(this.chat, []);
    this.problems.replaceChildren();
    this.changed();
    return taken;
  }

  remove(item) {
    const at = this.items.indexOf(item);
    this.items.splice(at, 1);
    item.leave();
    this.attach.told.announce(say("was_removed", { name: item.name }));
    this.changed();
    const next = this.items[at] || this.items[at - 1];
    (next ? next.element.querySelector(".remove") : $("#message")).focus();
    this.upload();
  }

  upload() {
    const all = [...this.trays.values()].flat();
    const waiting = all.filter((item) => item.waits);
    for (const item of waiting.slice(0, Math.max(0, AT_ONCE - all.filter((one) => one.request).length))) item.upload();
  }

  changed() {
    this.remember();
    this.paint();
    this.attach.told.changed();
  }

  paint() {
    const elements = this.items.map((item) => item.element);
    if (elements.some((element, at) => this.list.children[at] !== element) || this.list.children.length !== elements.length) this.list.replaceChildren(...elements);
    const { files: most, file_bytes: largest } = this.attach.limits;
    this.limits.textContent = most && elements.length ? say("limits", { count: most, size: sizeOf(largest) }) : "";
    this.attach.told.changed();
  }

  remembered(chat) {
    try {
      const kept = JSON.parse(localStorage.getItem(this.kept + chat) || "[]");
      return kept.filter(({ at }) => Date.now() - at < STALE);
    } catch {
      return [];
    }
  }

  remember() {
    try {
      for (const [chat, items] of this.trays) {
        const done = items.filter((item) => item.file).map(({ file, name, media_type, size, at }) => ({ file, name, media_type, size, at }));
        if (done.length) localStorage.setItem(this.kept + chat, JSON.stringify(done));
        else localStorage.removeItem(this.kept + chat);
      }
    } catch {
      // without storage a reload forgets what was attached
    }
  }
}

class Item {
  constructor(tray, { file = "", name, media_type, size, at = Date.now() }, blob = null) {
    Object.assign(this, { tray, file, name, media_type, size, at, blob });
    this.failure = "";
    this.request = null;
    this.seen = blob && /^image\//.test(blob.type) ? URL.createObjectURL(blob) : "";
    this.bar = make("progress", { max: "1", value: "0", "aria-label": say("uploading", { name }) });
    this.state = make("span", { class: "faint" });
    this.again = make("button", { type: "button", class: "quiet", text: say("retry"), hidden: true, on: { click: () => (this.renew(), tray.upload()) } });
    this.element = make("li", {}, this.picture(), make("div", { class: "about" }, make("span", { class: "file-name", dir: "auto", title: name, text: name }), this.state, this.bar), this.again,
      make("button", { type: "button", class: "icon remove", "aria-label": say("remove_file", { name }), title: say("remove_file", { name }), on: { click: () => tray.remove(this) } }, icon("close")));
    this.paint();
  }

  get waits() {
    return !this.file && !this.failure && !this.request && Boolean(this.blob);
  }

  get isStale() {
    return Boolean(this.file) && Date.now() - this.at > STALE;
  }

  picture() {
    if (!this.seen) return icon("file");
    const image = make("img", { src: this.seen, alt: "" });
    image.addEventListener("error", () => image.replaceWith(icon("file")));
    return image;
  }

  renew() {
    this.file = "";
    this.failure = this.blob ? "" : say("file_expired");
    this.paint();
  }

  upload() {
    const request = (this.request = new XMLHttpRequest());
    request.open("POST", `/v1/files?name=${encodeURIComponent(this.name)}`);
    request.setRequestHeader("content-type", this.media_type || "application/octet-stream");
    request.responseType = "json";
    request.upload.addEventListener("progress", ({ loaded, total }) => total && this.bar.setAttribute("value", String(loaded / total)));
    request.addEventListener("loadend", () => this.ended(request));
    request.send(this.blob);
    this.paint();
  }

  ended({ status, response }) {
    if (!this.request) return; // taken back meanwhile
    this.request = null;
    if (status === 201) {
      this.file = response.file;
      this.at = Date.now();
    } else {
      this.failure = response?.error || say("upload_broken");
      this.tray.attach.told.announce(say("upload_failed", { name: this.name, why: this.failure }));
    }
    this.paint();
    this.tray.upload();
    this.tray.changed();
  }

  leave() {
    const request = this.request;
    this.request = null;
    request?.abort();
    URL.revokeObjectURL(this.seen);
    if (this.file) fetch(`/v1/files/${this.file}`, { method: "DELETE" }).catch(() => {});
  }

  paint() {
    this.element.className = this.failure ? "chip failed" : this.file ? "chip" : "chip busy";
    this.bar.hidden = Boolean(this.file || this.failure);
    this.again.hidden = !this.failure || !this.blob;
    this.state.textContent = this.failure || sizeOf(this.size);
  }
}
