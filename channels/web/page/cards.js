// Approval cards: what is asked, with which arguments, and the four answers.

import { everySecond } from "./activity.js";
import { icon, make } from "./dom.js";
import { durationOf, has, say } from "./words.js";

const ANSWERS = ["once", "chat", "always", "deny"];
const TELLING = ["decision", "decided_by", "tool", "effect", "reason", "arguments", "expires_at"];

export class Card {
  // decide(card id, decision) -> promise of the house's sentence
  constructor(card, decide) {
    this.decide = decide;
    this.element = make("section", { class: "card" });
    this.take(card);
  }

  get isOpen() {
    return !this.card.decision;
  }

  take(card) {
    if (this.card && TELLING.every((field) => this.card[field] === card[field])) return;
    const here = this.isHere;
    const at = this.answers?.indexOf(document.activeElement) ?? -1;
    this.card = card;
    this.stop?.();
    this.element.classList.toggle("open", this.isOpen);
    this.element.setAttribute("aria-label", `${say("approve")} ${card.tool}`);
    this.element.replaceChildren(...(this.isOpen ? this.question() : this.outcome()));
    if (here) (this.isOpen ? this.answers[at] : this.element.querySelector("summary"))?.focus({ preventScroll: true });
  }

  // Whether the keyboard is at this card: a button that was pressed is disabled, and may have lost the focus with that.
  get isHere() {
    const active = document.activeElement;
    return this.element.contains(active) || (Boolean(this.pressed) && (!active || active === document.body));
  }

  question() {
    const { card } = this;
    const effect = `effect_${card.effect}`;
    this.answers = ANSWERS.map((answer) =>
      make("button", { type: "button", class: answer, title: say(`${answer}_why`), text: say(answer), on: { click: () => this.press(answer) } }),
    );
    this.left = make("p", { class: "faint left" });
    this.told = make("p", { class: "told", role: "alert" });
    this.count();
    this.stop = everySecond(() => this.count());
    return [
      make("h3", {}, icon("hand"), make("span", { text: say("approve") })),
      make("p", { class: "what" }, make("code", { text: card.tool }), make("span", { class: `effect ${card.effect}`, text: has(effect) ? say(effect) : card.effect })),
      card.reason ? make("p", { class: "why", dir: "auto", text: card.reason }) : null,
      readable(card.arguments),
      make("div", { class: "answers", role: "group", "aria-label": say("approve") }, ...this.answers),
      this.left,
      this.told,
    ].filter(Boolean);
  }

  count() {
    const seconds = this.card.expires_at - Date.now() / 1000;
    const soon = seconds > 0 && seconds < 24 * 3600;
    this.left.textContent = soon ? say("expires", { time: seconds > 90 ? `${Math.ceil(seconds / 60)} min` : durationOf(Math.ceil(seconds)) }) : "";
  }

  async press(answer) {
    this.pressed = this.answers[ANSWERS.indexOf(answer)];
    for (const button of this.answers) button.disabled = true;
    this.told.textContent = "";
    try {
      await this.decide(this.card.id, answer);
    } catch (problem) {
      this.told.textContent = problem.message;
    }
    if (this.isOpen) setTimeout(() => this.again(), 1500);
  }

  again() {
    if (!this.isOpen) return;
    for (const button of this.answers) button.disabled = false;
    if (this.isHere) this.pressed.focus({ preventScroll: true });
    this.pressed = null;
  }

  outcome() {
    const { card } = this;
    const granted = ["once", "chat", "always"].includes(card.decision);
    const by = card.decided_by ? say("by", { name: card.decided_by }) : "";
    this.element.classList.toggle("granted", granted);
    const details = make("details", {}, make("summary", {}, icon(granted ? "check" : "cross"),
      make("span", { text: say(has(`was_${card.decision}`) ? `was_${card.decision}` : "was_void") }),
      make("code", { text: card.tool }), make("span", { class: "faint", text: by })), readable(card.arguments));
    return [details];
  }
}

// The arguments as rows of name and value where they are an object, else as they are.
function readable(json) {
  let values;
  try {
    values = JSON.parse(json);
  } catch {
    values = null;
  }
  if (!values || typeof values !== "object" || Array.isArray(values)) return make("pre", { class: "raw", tabindex: "0", text: json });
  const rows = Object.entries(values).map(([name, value]) =>
    make("div", {}, make("dt", { text: name }), make("dd", { dir: "auto", text: typeof value === "string" ? value : JSON.stringify(value, null, 2) })),
  );
  return make("dl", { class: "arguments", tabindex: "0", "aria-label": say("arguments") }, ...rows);
}
