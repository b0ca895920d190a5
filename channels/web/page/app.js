// Puts the page together: which chat is open, what is sent, what arrives.

import { Attach } from "./attach.js";
import { Chats } from "./chats.js";
import { Composer } from "./composer.js";
import { $, make } from "./dom.js";
import { forgetOwn } from "./files.js";
import { listen } from "./keys.js";
import { Line } from "./line.js";
import { Scroll } from "./scroll.js";
import { server } from "./server.js";
import { Status } from "./status.js";
import { Conversation } from "./turns.js";
import { freshId, unsent } from "./unsent.js";
import { ideas, say, translate } from "./words.js";

const LAST = "bowerbird.chat";
const ROWS = 200;
const SPOKEN_CHARS = 700;

let chat = "";
let rows = ROWS;
let loading = 0;
let retry = 1000;

translate();
const scroll = new Scroll();
const status = new Status({ again: () => (line.chat === null ? load() : line.now()), announce });
const attach = new Attach({ announce, changed: () => composer.attached() });
const composer = new Composer({ send, stop, announce }, attach);
const chats = new Chats({ open, fresh });
const conversation = new Conversation({
  decide: (card, decision) => server.decide(card, decision, chat),
  retry: (turn) => server.retry(turn, chat),
  announce,
  state,
  painted: () => scroll.grew(),
  finished,
});
const line = new Line({
  frame,
  up: () => (status.up(), deliverAll()),
  down: () => status.down(),
});

listen({
  stop: () => (conversation.live.length ? stop() : false),
  focus: () => composer.focus(),
  fresh,
  beside: (step) => chats.beside(step) && open(chats.beside(step)),
});

function announce(text) {
  const element = $("#spoken");
  // the same words twice would not be read twice
  element.replaceChildren(make("p", { text }));
}

function frame(news) {
  if (news.type === "about") about(news);
  else if (news.type === "chats") refreshChats(news);
  else conversation.take(news);
  if (news.type === "message") unsent.drop(news.id);
  empty();
}

function about(news) {
  status.set(news);
  if (news.limits) (attach.limit(news.limits), composer.limit(news.limits));
}

function finished(turn) {
  const text = turn.answer.text || turn.notes.textContent;
  announce(say("answered", { text: turn.answer.element.textContent.trim().slice(0, SPOKEN_CHARS) || text.slice(0, SPOKEN_CHARS) }));
  if (document.hidden) document.title = `● ${titleOf(chat)}`;
}

function state() {
  const live = conversation.live.length > 0;
  composer.working(live);
  chats.live(chat, live);
}

function empty() {
  const nothing = conversation.isEmpty && !loading;
  $("#empty").hidden = !nothing;
  $("#log").hidden = nothing;
}

// chats

const titleOf = (id) => chats.title(id) || say("untitled");

function titles() {
  $("#title").textContent = titleOf(chat);
  document.title = chats.title(chat) ? `${chats.title(chat)} · ${$("#name").textContent}` : $("#name").textContent;
}

let refreshing = null;
function refreshChats(news) {
  if (news) chats.live(news.chat, news.live);
  clearTimeout(refreshing);
  refreshing = setTimeout(async () => {
    try {
      chats.set((await server.chats()).chats);
      titles();
    } catch {
      // the next news brings it
    }
  }, 250);
}

function fresh() {
  open(conversation.isEmpty && chat ? chat : freshId(12));
  composer.focus();
}

async function open(id) {
  if (location.hash.slice(1) !== id) history.pushState(null, "", `#${id}`);
  chat = id;
  rows = ROWS;
  try {
    localStorage.setItem(LAST, id);
  } catch {
    // without storage the next visit begins with a new chat
  }
  chats.mark(id);
  composer.open(id, say("write_here", { name: $("#name").textContent }));
  conversation.clear();
  forgetOwn();
  scroll.follows = true;
  titles();
  await load();
  if (!window.matchMedia("(pointer: coarse)").matches) composer.focus();
}

// Reads the chat's past, then follows it from exactly there. Tries again for as long as the server is away.
async function load() {
  const mine = ++loading;
  const id = chat;
  line.leave();
  empty();
  try {
    const past = await server.history(id, rows);
    if (mine !== loading || id !== chat) return;
    retry = 1000;
    loading = 0;
    about(past.about);
    for (const one of past.frames) conversation.take(one, { quietly: true });
    $("#earlier").hidden = !past.more;
    for (const message of unsent.of(id)) resume(message);
    line.follow(id, past.seq);
    state();
    empty();
    titles();
    scroll.grew();
    refreshChats();
  } catch (problem) {
    if (mine !== loading || id !== chat) return;
    if (!problem.later) return status.fail(say("load_failed", { why: problem.message }));
    status.down();
    for (const message of unsent.of(id)) conversation.pending(message, "kept");
    setTimeout(() => mine === loading && load(), (retry = Math.min(retry * 2, 10000)));
  }
}

$("#earlier").addEventListener("click", async () => {
  rows *= 4;
  const past = await server.history(chat, rows);
  scroll.keeping(() => {
    const known = new Set(conversation.turns.keys());
    const older = past.frames.filter((one) => !known.has(one.turn));
    const first = $("#turns").firstChild;
    for (const one of older) {
      conversation.take(one, { quietly: true });
      first.before(conversation.turn(one.turn).element);
    }
  });
  $("#earlier").hidden = !past.more;
});

// sending

function send(text, files) {
  const message = { chat, text, files, id: freshId(), at: Date.now() / 1000 };
  unsent.keep(message);
  scroll.follows = true;
  conversation.pending(message, "sending");
  empty();
  deliver(message);
}

function resume(message) {
  if (conversation.knows(message.id)) return unsent.drop(message.id);
  if (message.chat === chat) conversation.pending(message, "sending");
  deliver(message);
}

function deliverAll() {
  for (const message of unsent.all()) resume(message);
}

const underway = new Set();
async function deliver(message) {
  if (underway.has(message.id)) return;
  underway.add(message.id);
  try {
    const { turn } = await server.send(message);
    unsent.drop(message.id);
    if (message.chat === chat && turn) conversation.take({ type: "message", turn, id: message.id, text: message.text, files: message.files, at: message.at });
  } catch (problem) {
    if (message.chat === chat && !conversation.knows(message.id)) trouble(message, problem);
    if (problem.later) setTimeout(() => message.chat === chat && resume(message), 3000);
  } finally {
    underway.delete(message.id);
  }
}

function trouble(message, problem) {
  const turn = conversation.pending(message);
  const bubble = turn.said.get(message.id);
  bubble.querySelector(".trouble")?.remove();
  bubble.classList.remove("sending");
  bubble.classList.add(problem.later ? "kept" : "failed");
  const note = make("p", { class: "trouble", role: "status", text: say(!problem.later ? "failed" : problem.told ? "kept_why" : "kept", { why: problem.message }) });
  if (!problem.later) {
    const retryIt = () => (note.remove(), bubble.classList.replace("failed", "sending"), deliver(message));
    const discard = () => (unsent.drop(message.id), turn.leave(), conversation.turns.delete(turn.id), composer.text || composer.put(message.text), attach.restore(message.files), empty());
    note.append(
      make("button", { type: "button", class: "quiet", text: say("retry"), on: { click: retryIt } }),
      make("button", { type: "button", class: "quiet", text: say("discard"), on: { click: discard } }),
    );
  }
  bubble.append(note);
}

function stop() {
  composer.stopping();
  announce(say("stopping"));
  server.stop(chat).catch((problem) => announce(problem.message));
}

// beginning

window.addEventListener("popstate", () => fromAddress());
window.addEventListener("hashchange", () => location.hash.slice(1) !== chat && fromAddress());
document.addEventListener("visibilitychange", () => document.hidden || (titles(), refreshChats()));

function fromAddress() {
  const wanted = location.hash.slice(1);
  open(/^[A-Za-z0-9_-]{1,64}$/.test(wanted) && !wanted.startsWith("api-") ? wanted : lastChat() || freshId(12));
}

function lastChat() {
  try {
    return localStorage.getItem(LAST);
  } catch {
    return null;
  }
}

$("#ideas").append(
  ...ideas.map((idea) => make("li", {}, make("button", { type: "button", text: idea, on: { click: () => (composer.put(idea), composer.focus()) } }))),
);
fromAddress();
