// Follows the end of the conversation, and yields as soon as the person looks back.

import { $, icon } from "./dom.js";

const NEAR = 72;

export class Scroll {
  constructor() {
    this.box = $("#scroll");
    this.chip = $("#latest");
    this.follows = true;
    this.chip.querySelector(".glyph").replaceWith(icon("down"));
    this.chip.addEventListener("click", () => this.toEnd());
    this.box.addEventListener("scroll", () => this.looked(), { passive: true });
    this.box.addEventListener("wheel", (event) => event.deltaY < 0 && this.yield(), { passive: true });
    this.box.addEventListener("touchmove", () => this.isNear || this.yield(), { passive: true });
    new ResizeObserver(() => this.grew()).observe($("#log"));
    new ResizeObserver(() => this.grew()).observe(this.box);
    this.last = 0;
  }

  get isNear() {
    return this.box.scrollHeight - this.box.scrollTop - this.box.clientHeight < NEAR;
  }

  looked() {
    const up = this.box.scrollTop < this.last - 2;
    this.last = this.box.scrollTop;
    if (this.isNear) this.follows = true;
    else if (up) this.follows = false;
    this.paint();
  }

  yield() {
    if (this.box.scrollHeight > this.box.clientHeight) this.follows = false;
  }

  // Content was added: stay at the end, or leave the view where it is.
  grew() {
    if (this.follows) {
      this.box.scrollTop = this.box.scrollHeight;
      this.last = this.box.scrollTop;
    }
    this.paint();
  }

  toEnd() {
    this.follows = true;
    const calm = window.matchMedia("(prefers-reduced-motion: reduce)").matches;
    const far = this.box.scrollHeight - this.box.scrollTop > 4 * this.box.clientHeight;
    this.box.scrollTo({ top: this.box.scrollHeight, behavior: calm || far ? "auto" : "smooth" });
    this.chip.hidden = true;
  }

  // Keeps what is on screen in place while older messages appear above it.
  keeping(act) {
    const before = this.box.scrollHeight - this.box.scrollTop;
    act();
    this.box.scrollTop = this.box.scrollHeight - before;
    this.last = this.box.scrollTop;
  }

  paint() {
    $("#top").classList.toggle("scrolled", this.box.scrollTop > 4);
    this.chip.hidden = this.follows || this.isNear;
  }
}
