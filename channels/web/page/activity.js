// What runs for an answer: one line a tool while it works, one line for all of them afterwards.

import { icon, make } from "./dom.js";
import { durationOf, say, soFar } from "./words.js";

const clocks = new Set();
const GRANTED = new Set(["once", "chat", "always"]);

setInterval(() => {
  for (const tick of clocks) tick();
}, 1000);

// Calls ``tick`` once a second until the returned function is called.
export function everySecond(tick) {
  clocks.add(tick);
  return () => clocks.delete(tick);
}

export class Activity {
  constructor() {
    this.lines = new Map();
    this.summary = make("summary");
    this.list = make("ul");
    this.element = make("details", { class: "activity", open: true, hidden: true }, this.summary, this.list);
    this.stop = null;
    this.asked = new Map();
  }

  // What people decided, by call: "" while it waits, and then it does not run; most words mean that it never did.
  decided(asked) {
    this.asked = asked;
    this.paint();
  }

  reset() {
    this.lines.clear();
    this.list.replaceChildren();
    this.paint();
  }

  set(line) {
    const known = this.lines.get(line.call_id);
    const row = known?.row || make("li");
    this.lines.set(line.call_id, { ...line, row, began: known?.began || Date.now() });
    if (!known) this.list.append(row);
    this.paint();
  }

  get running() {
    return [...this.lines.values()].filter((line) => this.stateOf(line) === "running");
  }

  stateOf(line) {
    const decision = this.asked.get(line.call_id);
    if (decision === "" && !this.over) return "held";
    if (decision !== undefined && !GRANTED.has(decision)) return "unused";
    if ((line.seconds ?? null) !== null) return line.error ? "failed" : "done";
    return this.over ? "cut" : "running";
  }

  // How long the tool ran, null for one that did not: a question that was denied took time, and a call that was refused none.
  ranFor(line) {
    const state = this.stateOf(line);
    return state === "done" || (state === "failed" && line.seconds >= 0.05) ? line.seconds : null;
  }

  // One sentence for all lines: what is asked, what is at work, what was done, and never that something was which was not.
  get sentence() {
    const among = (...states) => [...this.lines.values()].filter((line) => states.includes(this.stateOf(line)));
    const told = (word, lines) => (lines.length === 1 ? say(`${word}_one`, { name: lines[0].name }) : say(`${word}_many`, { count: lines.length }));
    if (among("running").length) return say("using");
    if (among("held").length) return told("asks_to", among("held"));
    if (among("done", "cut").length) return told("used", among("done", "cut", "failed"));
    return among("failed").length ? told("broke", among("failed")) : told("unused", among("unused"));
  }

  // The turn is over: nothing runs any more, and the lines fold into one.
  fold() {
    this.over = true;
    this.element.open = false;
    this.paint();
  }

  paint() {
    this.element.hidden = this.lines.size === 0;
    for (const line of this.lines.values()) this.paintLine(line);
    const seconds = [...this.lines.values()].reduce((sum, line) => sum + (this.ranFor(line) || 0), 0);
    const busy = this.running.length > 0;
    this.summary.replaceChildren(icon("tool"), make("span", { text: this.sentence }), make("span", { class: "faint", text: seconds && !busy ? durationOf(seconds) : "" }));
    if (busy && !this.stop) this.stop = everySecond(() => this.running.forEach((line) => this.paintLine(line)));
    if (!busy && this.stop) this.stop = void this.stop();
  }

  paintLine(line) {
    const state = this.stateOf(line);
    const mark = state === "running" ? make("span", { class: "spinner" }) : icon({ done: "check", held: "hand" }[state] || "cross");
    const ran = this.ranFor(line);
    const time = state === "running" ? soFar((Date.now() - line.began) / 1000) : ran === null ? "" : durationOf(ran);
    line.row.className = state;
    line.row.replaceChildren(
      mark,
      make("span", { class: "unseen", text: say({ running: "tool_running", held: "waiting", done: "tool_done", unused: "tool_unused" }[state] || "tool_failed") }),
      make("span", { class: "tool-name", text: line.name }),
      make("span", { class: "tool-what", dir: "auto", text: line.summary }),
      make("span", { class: "faint", text: time }),
    );
  }
}
