// What runs for an answer: one line a tool while it works, one line for all of them afterwards.

import { icon, make } from "./dom.js";
import { durationOf, say, soFar } from "./words.js";

const clocks = new Set();

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
    this.held = new Set();
  }

  // Calls that wait for a person do not run.
  hold(calls) {
    this.held = calls;
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
    return [...this.lines.values()].filter((line) => (line.seconds ?? null) === null && !this.held.has(line.call_id));
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
    const lines = [...this.lines.values()];
    const seconds = lines.reduce((sum, line) => sum + (line.seconds || 0), 0);
    const names = new Set(lines.map((line) => line.name));
    const busy = !this.over && this.running.length > 0;
    const what = busy ? say("using") : names.size === 1 && lines.length === 1 ? say("used_one", { name: lines[0].name }) : say("used_many", { count: lines.length });
    this.summary.replaceChildren(icon("tool"), make("span", { text: what }), make("span", { class: "faint", text: seconds && !busy ? durationOf(seconds) : "" }));
    if (busy && !this.stop) this.stop = everySecond(() => this.running.forEach((line) => this.paintLine(line)));
    if (!busy && this.stop) this.stop = void this.stop();
  }

  paintLine(line) {
    const done = (line.seconds ?? null) !== null;
    const state = done ? (line.error ? "failed" : "done") : this.over ? "cut" : this.held.has(line.call_id) ? "held" : "running";
    const mark = state === "running" ? make("span", { class: "spinner" }) : icon({ done: "check", held: "hand" }[state] || "cross");
    const time = done ? durationOf(line.seconds) : state === "running" ? soFar((Date.now() - line.began) / 1000) : "";
    line.row.className = state;
    line.row.replaceChildren(
      mark,
      make("span", { class: "unseen", text: say({ running: "tool_running", held: "waiting", done: "tool_done" }[state] || "tool_failed") }),
      make("span", { class: "tool-name", text: line.name }),
      make("span", { class: "tool-what", dir: "auto", text: line.summary }),
      make("span", { class: "faint", text: time }),
    );
  }
}
