// Requests to the server; every failure is an Unable with a sentence and whether trying again later makes sense.

import { say } from "./words.js";

export class Unable extends Error {
  // told: the server itself said what is wrong
  constructor(message, { later = false, status = 0, told = false } = {}) {
    super(message);
    this.later = later;
    this.status = status;
    this.told = told;
  }
}

const SECONDS = 20;

async function ask(path, options = {}) {
  let answer;
  try {
    answer = await fetch(path, { ...options, cache: "no-store", signal: AbortSignal.timeout(SECONDS * 1000) });
  } catch {
    throw new Unable(say("no_answer"), { later: true });
  }
  if (answer.status === 401) location.reload();
  const body = answer.status === 204 ? {} : await answer.json().catch(() => ({}));
  if (answer.ok) return body;
  throw new Unable(body.error || `HTTP ${answer.status}`, { later: answer.status >= 500 || answer.status === 401, status: answer.status, told: Boolean(body.error) });
}

function post(path, body) {
  return ask(path, { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body) });
}

export const server = {
  chats: () => ask("/v1/chats"),
  history: (chat, rows) => ask(`/v1/history?chat=${chat}&rows=${rows}`),
  send: (message) => post("/v1/messages", { chat: message.chat, text: message.text, id: message.id, files: message.files?.map(({ file }) => file) }),
  stop: (chat) => post("/v1/stop", { chat }),
  retry: (turn, chat) => post("/v1/retry", { turn, chat }),
  decide: (card, decision, chat) => post(`/v1/approvals/${encodeURIComponent(card)}`, { decision, chat }),
};
