// The message box: grows with its text, keeps a draft for each chat, sends on Enter but never in the middle of a
// composed character.

import { $, icon } from "./dom.js";
import { say } from "./words.js";

const DRAFT = "bowerbird.draft.";

export class Composer {
  // told: {send(text, files), stop(), announce(text)}; attach: the files that go along
  constructor(told, attach) {
    this.told = told;
    this.attach = attach;
    this.waits = false;
    this.most = Infinity;
    this.excess = $("#too-long");
    this.form = $("#composer");
    this.box = $("#message");
    this.sendButton = $("#send");
    this.stopButton = $("#stop");
    this.chat = "";
    this.sendButton.append(icon("send"));
    this.stopButton.append(icon("stop"));
    this.form.addEventListener("submit", (event) => (event.preventDefault(), this.submit()));
    this.form.addEventListener("click", (event) => event.target === this.form && this.box.focus());
    this.stopButton.addEventListener("click", () => told.stop());
    this.box.addEventListener("input", () => this.changed());
    this.box.addEventListener("keydown", (event) => {
      // 229 is what some browsers report for the key that ends a composition
      if (event.key !== "Enter" || event.shiftKey || event.isComposing || event.keyCode === 229) return;
      event.preventDefault();
      this.submit();
    });
    window.addEventListener("resize", () => this.grow());
  }

  get text() {
    return this.box.value.trim();
  }

  submit() {
    if (!this.excess.hidden) return this.told.announce(this.excess.textContent);
    if ((!this.text && this.attach.isEmpty) || this.attach.complains()) return;
    if (this.attach.isBusy) return this.wait();
    const text = this.text;
    const files = this.attach.take();
    this.put("");
    this.told.send(text, files);
  }

  // Goes by itself once every file has arrived.
  wait() {
    this.waits = true;
    this.told.announce(say("sends_later"));
    this.changed();
  }

  attached() {
    if (this.waits && !this.attach.isBusy) {
      this.waits = false;
      this.submit();
    }
    this.changed();
  }

  put(text) {
    this.box.value = text;
    this.changed();
  }

  // The most characters that a message may have.
  limit({ text_chars: most = Infinity }) {
    this.most = most;
    this.measure();
  }

  measure() {
    // a character beyond the first 65,536 counts twice in JavaScript, and once on the server
    const count = this.text.length > this.most ? [...this.text].length : 0;
    const began = this.excess.hidden;
    this.excess.hidden = count <= this.most;
    if (this.excess.hidden) return;
    this.excess.textContent = say("too_long", { count: count.toLocaleString(document.documentElement.lang), most: this.most.toLocaleString(document.documentElement.lang) });
    if (began) this.told.announce(this.excess.textContent);
  }

  changed() {
    this.measure();
    this.waits = this.waits && !this.attach.isEmpty;
    this.sendButton.disabled = !this.excess.hidden || (this.text === "" && this.attach.isEmpty);
    this.sendButton.classList.toggle("waits", this.waits);
    this.grow();
    try {
      if (this.box.value) localStorage.setItem(DRAFT + this.chat, this.box.value);
      else localStorage.removeItem(DRAFT + this.chat);
    } catch {
      // without storage there are no drafts
    }
  }

  grow() {
    this.box.style.height = "auto";
    this.box.style.height = `${this.box.scrollHeight}px`;
  }

  open(chat, name) {
    this.chat = chat;
    this.waits = false;
    this.box.placeholder = name;
    let draft = "";
    try {
      draft = localStorage.getItem(DRAFT + chat) || "";
    } catch {
      // without storage there are no drafts
    }
    this.put(draft);
    this.attach.open(chat);
  }

  working(busy) {
    this.stopButton.hidden = !busy;
    if (!busy) this.stopButton.disabled = false;
  }

  stopping() {
    this.stopButton.disabled = true;
    setTimeout(() => (this.stopButton.disabled = false), 2000);
  }

  focus() {
    this.box.focus();
  }
}
