// The text of one answer: its Markdown for copying, its blocks of HTML for reading.

import { copyText, icon, make, parsed } from "./dom.js";
import { highlight } from "./highlight.js";
import { morph } from "./morph.js";
import { say } from "./words.js";

const frames = new Set();
let scheduled = false;
const afterPaint = new Set();

// Called after the answers on the page have changed, once per frame of the screen.
export const onPaint = (act) => afterPaint.add(act);

export function soon(paint) {
  frames.add(paint);
  if (scheduled) return;
  scheduled = true;
  // a page that is hidden, covered or on a busy machine may get no animation frames, but must be up to date
  if (!document.hidden) requestAnimationFrame(paintAll);
  setTimeout(paintAll, 200);
}

function paintAll() {
  if (!scheduled) return;
  scheduled = false;
  const due = [...frames];
  frames.clear();
  for (const paint of due) paint();
  for (const act of afterPaint) act();
}

document.addEventListener("visibilitychange", () => document.hidden || !scheduled || paintAll());

export class Answer {
  constructor() {
    this.element = make("div", { class: "answer" });
    this.text = "";
    this.length = 0;
    this.html = [];
    this.wraps = [];
    this.inserts = [];
    this.dirty = Infinity;
    this.finished = false;
  }

  get isEmpty() {
    return this.text.trim() === "";
  }

  take({ offset, text, block, keep, html }) {
    if (offset < this.length) this.text = [...this.text].slice(0, offset).join("");
    this.text += text;
    this.length = Math.min(offset, this.length) + [...text].length;
    const fresh = [...html];
    if (keep !== undefined) fresh[0] = (this.html[block] || "").slice(0, keep) + fresh[0];
    this.html.length = Math.min(block, this.html.length);
    this.html.push(...fresh);
    this.dirty = Math.min(this.dirty, block);
    soon(() => this.paint());
  }

  finish() {
    this.finished = true;
    soon(() => this.paint());
  }

  // Something that stands between two blocks: a message the person added while the answer was being written.
  insert(element, block) {
    this.inserts.push({ element, block });
    soon(() => this.paint());
  }

  paint() {
    this.html.forEach((html, at) => {
      if (at < this.dirty) return;
      const nodes = parsed(html);
      const wrap = this.wraps[at];
      if (wrap) morph(wrap, nodes);
      else {
        this.wraps[at] = make("div", { class: "block", dir: "auto" });
        this.wraps[at].append(nodes);
        this.element.append(this.wraps[at]);
      }
      label(this.wraps[at]);
    });
    for (const wrap of this.wraps.splice(this.html.length)) wrap.remove();
    this.dirty = Infinity;
    for (const { element, block } of this.inserts) this.place(element, this.wraps[block] || null);
    const closed = this.finished ? this.wraps : this.wraps.slice(0, -1);
    for (const wrap of closed) wrap.querySelectorAll("code[class^=language-]:not([data-lit])").forEach(highlight);
  }

  place(element, before) {
    if (element.parentNode !== this.element || element.nextSibling !== before) this.element.insertBefore(element, before);
  }
}

function label(wrap) {
  for (const button of wrap.querySelectorAll("button.copy:empty")) {
    button.append(icon("copy"), make("span", { text: say("copy") }));
    button.setAttribute("aria-label", say("copy_code"));
  }
}

// A button that copies and says so for a moment.
export function copied(button) {
  const words = button.querySelector("span");
  button.classList.add("done");
  if (words) words.textContent = say("copied");
  setTimeout(() => {
    button.classList.remove("done");
    if (words) words.textContent = say("copy");
  }, 1600);
}

document.addEventListener("click", async (event) => {
  const button = event.target.closest("button[data-copy=code]");
  if (!button) return;
  await copyText(button.closest(".code").querySelector("code").textContent);
  copied(button);
});
