// The conversation: one section a turn, changed by the frames that arrive.

import { Activity, everySecond } from "./activity.js";
import { Answer, copied, onPaint, soon } from "./answer.js";
import { Card } from "./cards.js";
import { $, copyText, icon, make } from "./dom.js";
import { fileList } from "./files.js";
import { dayOf, momentOf, say, soFar, timeOf } from "./words.js";

export class Turn {
  // told: {decide, retry, announce, changed}
  constructor(id, told) {
    this.id = id;
    this.told = told;
    this.at = Date.now() / 1000;
    this.said = new Map();
    this.cards = new Map();
    this.started = this.over = false;
    this.messages = make("div", { class: "messages" });
    this.queue = make("p", { class: "queued faint", hidden: true, text: say("queued") });
    this.activity = new Activity();
    this.answer = new Answer();
    this.asks = make("div", { class: "cards" });
    this.status = make("p", { class: "status", hidden: true });
    this.notes = make("div", { class: "notes" });
    this.files = fileList([]);
    this.fileFrame = "[]";
    this.foot = make("footer", { hidden: true });
    this.reply = make("div", { class: "reply", hidden: true }, this.activity.element, this.answer.element, this.asks, this.status, this.notes, this.files, this.foot);
    this.element = make("section", { class: "turn", "data-turn": id }, this.messages, this.queue, this.reply);
    this.unclock = null;
  }

  get isLive() {
    return this.started && !this.over;
  }

  say({ id, text, at, block = 0, files = [] }, state = "") {
    const known = this.said.get(id);
    if (known) return known.classList.remove("sending", "kept", "failed");
    const bubble = bubbleOf(text, at, state, files);
    this.said.set(id, bubble);
    this.at = Math.min(this.at, at);
    if (block > 0) this.answer.insert(bubble, block);
    else this.messages.append(bubble);
  }

  take(frame) {
    if (frame.type === "message") return this.say(frame);
    this.reply.hidden = false;
    this.started = true;
    const act = { token: this.token, thinking: this.thinking, tool_call_start: this.tool, tool_result: this.tool, approval: this.approval,
      notice: this.notice, files: this.file, error: this.error, done: this.done }[frame.type];
    act?.call(this, frame);
    this.paint();
  }

  token(frame) {
    if (frame.snapshot) {
      for (const said of frame.said) this.say(said);
      this.at = frame.at;
      this.over = false;
      this.activity.reset();
      frame.tools.forEach((line) => this.activity.set(line));
      for (const [id, card] of [...this.cards]) if (!frame.cards.some((one) => one.id === id)) this.cards.delete(id), card.element.remove();
      for (const card of frame.cards) this.approval(card);
      this.notice(frame);
      this.file(frame);
      if (frame.fresh) this.element.classList.add("fresh");
    }
    if (frame.snapshot) this.phase = frame.phase;
    else if (frame.text) this.phase = "writing";
    this.answer.take(frame);
  }

  thinking() {
    this.phase = "thinking";
    this.since = Date.now();
  }

  tool(line) {
    this.activity.set(line);
    this.phase = "thinking";
    this.since = Date.now();
  }

  approval(card) {
    this.phase = card.decision ? "thinking" : "waiting";
    const known = this.cards.get(card.id);
    if (known) return known.take(card);
    const made = new Card(card, this.told.decide);
    this.cards.set(card.id, made);
    this.asks.append(made.element);
    if (made.isOpen) this.told.announce(say("asks", { tool: card.tool }));
  }

  notice({ notices }) {
    this.notes.replaceChildren(...notices.map((text) => make("p", { class: "notice", dir: "auto", text })));
  }

  file({ files }) {
    const frame = JSON.stringify(files);
    if (frame === this.fileFrame) return; // a picture that is there would be fetched again
    this.fileFrame = frame;
    const list = fileList(files);
    this.files.replaceWith(list);
    this.files = list;
  }

  error({ message }) {
    this.failure = message;
  }

  done({ stop, notice, at, retry }) {
    this.over = true;
    this.retriable = retry;
    this.phase = "done";
    this.answer.finish();
    this.activity.fold();
    const shown = [...this.notes.children].some((note) => note.textContent === notice);
    if (notice && !shown) this.notes.append(make("p", { class: "notice", dir: "auto", text: notice }));
    if (this.failure !== undefined) {
      if (!this.notes.children.length) this.notes.append(make("p", { class: "notice", text: say("ended_badly", { stop }) }));
      this.notes.lastElementChild.classList.add("bad");
    }
    this.footer(at || this.at);
  }

  footer(at) {
    const copy = make("button", { type: "button", class: "quiet copy-answer", "aria-label": say("copy_answer"), hidden: this.answer.isEmpty }, icon("copy"), make("span", { text: say("copy") }));
    copy.addEventListener("click", async () => {
      await copyText(this.answer.text);
      copied(copy);
    });
    this.foot.replaceChildren(make("time", { datetime: new Date(at * 1000).toISOString(), title: momentOf(at), text: timeOf(at) }), copy);
    if (this.retriable) this.foot.append(this.another());
    this.foot.hidden = false;
  }

  // The same question once more. Below the last turn only: the style sheet hides it where something newer was asked.
  another() {
    const button = make("button", { type: "button", class: "quiet another", text: say("retry") });
    button.addEventListener("click", async () => {
      button.disabled = true;
      try {
        const { notice } = await this.told.retry(this.id);
        this.told.announce(notice || "");
      } catch (problem) {
        button.disabled = false;
        this.told.announce(problem.message);
        this.notes.append(make("p", { class: "notice bad", text: problem.message }));
      }
    });
    return button;
  }

  paint() {
    const open = [...this.cards.values()].filter((one) => one.isOpen);
    this.activity.decided(new Map([...this.cards.values()].map(({ card }) => [card.call_id, card.decision])));
    const busy = this.isLive && (this.phase !== "writing" || this.answer.isEmpty) && this.activity.running.length === 0;
    this.element.classList.toggle("live", this.isLive);
    this.element.classList.toggle("writing", this.isLive && this.phase === "writing");
    this.element.setAttribute("aria-busy", String(this.isLive));
    this.status.hidden = !busy;
    if (busy) this.clock(open.length ? "waiting" : "thinking");
    else if (this.unclock) this.unclock = void this.unclock();
    this.told.changed(this);
  }

  clock(word) {
    const began = this.since || Date.now();
    const tick = () => {
      this.status.replaceChildren(make("span", { class: `pulse ${word}` }), make("span", { text: say(word) }), make("span", { class: "faint", text: soFar((Date.now() - began) / 1000) }));
    };
    this.unclock?.();
    tick();
    this.unclock = everySecond(tick);
  }

  // Behind a turn that is being answered, a message that the server has waits until that one is over, or takes it in.
  queued(behind) {
    this.queue.hidden = this.started || this.id.startsWith("mine-") || !behind;
  }

  leave() {
    this.unclock?.();
    this.element.remove();
  }
}

function bubbleOf(text, at, state, files) {
  const bubble = make("div", { class: `bubble ${state}` }, make("span", { class: "unseen", text: say("you_said") }), text ? make("p", { dir: "auto", text }) : null);
  if (files.length) bubble.append(fileList(files));
  bubble.files = files;
  bubble.append(make("time", { datetime: new Date(at * 1000).toISOString(), title: momentOf(at), text: timeOf(at) }));
  return bubble;
}

// What the server says of a message's files, with the pictures that this page has of them already.
function confirmed(bubble, files) {
  if (!files.some(({ href }) => href)) return;
  bubble.files = files.map((file, at) => ({ file: bubble.files[at]?.file, ...file }));
  bubble.querySelector(".files")?.replaceWith(fileList(bubble.files));
}

export class Conversation {
  constructor(told) {
    this.told = { ...told, changed: () => this.told.state() };
    this.turns = new Map();
    this.element = $("#turns");
    onPaint(() => told.painted());
  }

  clear() {
    for (const turn of this.turns.values()) turn.leave();
    this.turns.clear();
    this.element.replaceChildren();
  }

  get live() {
    return [...this.turns.values()].filter((turn) => turn.isLive);
  }

  get isEmpty() {
    return this.turns.size === 0;
  }

  turn(id) {
    if (!this.turns.has(id)) {
      const turn = new Turn(id, this.told);
      this.turns.set(id, turn);
      this.element.append(turn.element);
    }
    return this.turns.get(id);
  }

  take(frame, { quietly = false } = {}) {
    if (frame.type === "removed") {
      this.turns.get(frame.turn)?.leave();
      this.turns.delete(frame.turn);
      return;
    }
    const turn = this.turn(frame.turn);
    const wasLive = turn.isLive;
    for (const said of frame.said || (frame.type === "message" ? [frame] : [])) this.adopt(said, turn);
    turn.take(frame);
    if (frame.type === "done" && wasLive && !quietly) soon(() => this.told.finished(turn));
    const busy = this.live.length > 0;
    for (const one of this.turns.values()) one.queued(busy);
    this.days();
  }

  // Whether the server is known to have the message.
  knows(id) {
    return [...this.turns.values()].some((turn) => turn.said.has(id) && !turn.id.startsWith("mine-"));
  }

  // A message of this page that the server has not confirmed yet stands in a section of its own.
  pending(message, state) {
    const turn = this.turn(`mine-${message.id}`);
    turn.say(message, state);
    return turn;
  }

  // The turn that answers the message is known now: the bubble moves there.
  adopt({ id, block = 0, files = [] }, turn) {
    const mine = this.turns.get(`mine-${id}`);
    if (turn.said.has(id)) confirmed(turn.said.get(id), files);
    if (!mine || mine === turn) return;
    const bubble = mine.said.get(id);
    if (!turn.said.has(id)) {
      bubble.className = "bubble";
      bubble.querySelector(".trouble")?.remove();
      turn.said.set(id, bubble);
      confirmed(bubble, files);
      if (block > 0) turn.answer.insert(bubble, block);
      else turn.messages.append(bubble);
      if (!turn.started) mine.element.before(turn.element);
    }
    mine.leave();
    this.turns.delete(`mine-${id}`);
  }

  days() {
    let last = "";
    for (const turn of this.turns.values()) {
      const name = dayOf(turn.at);
      if (name !== last && (last || name !== say("today"))) turn.element.dataset.day = name;
      else delete turn.element.dataset.day;
      last = name;
    }
  }
}

