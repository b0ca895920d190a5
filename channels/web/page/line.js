// The live line to one chat: a WebSocket, or an event stream where a proxy lets none through. It watches for silence,
// comes back by itself, and goes on exactly behind the last event it was given.

const SILENCE = 40000;
const FIRST_WAIT = 500;
const LONGEST_WAIT = 15000;

export class Line {
  // told: {frame(frame), up(), down()}
  constructor(told) {
    this.told = told;
    this.chat = null;
    this.after = 0;
    this.wait = FIRST_WAIT;
    this.sockets = true;
    this.isUp = false;
    this.close = () => {};
    window.addEventListener("online", () => this.now());
    document.addEventListener("visibilitychange", () => document.hidden || this.isUp || this.now());
    setInterval(() => this.check(), 5000);
  }

  follow(chat, after) {
    this.leave();
    this.chat = chat;
    this.after = after;
    this.wait = FIRST_WAIT;
    this.connect();
  }

  leave() {
    clearTimeout(this.timer);
    this.chat = null;
    this.isUp = false;
    this.close();
  }

  // Try again at once instead of waiting.
  now() {
    if (this.chat === null || this.isUp) return;
    clearTimeout(this.timer);
    this.close();
    this.wait = FIRST_WAIT;
    this.connect();
  }

  check() {
    if (this.chat !== null && this.isUp && Date.now() - this.heard > SILENCE) this.lost();
  }

  connect() {
    this.heard = Date.now();
    (this.sockets ? openSocket : openStream)(this);
  }

  opened() {
    this.isUp = true;
    this.wait = FIRST_WAIT;
    this.told.up();
  }

  take(frame) {
    this.heard = Date.now();
    if (frame.seq) {
      if (frame.seq <= this.after) return;
      this.after = frame.seq;
    }
    this.told.frame(frame);
  }

  lost() {
    this.close();
    this.close = () => {};
    if (this.chat === null) return;
    this.isUp = false;
    this.told.down();
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.connect(), this.wait * (0.7 + 0.6 * Math.random()));
    this.wait = Math.min(this.wait * 2, LONGEST_WAIT);
  }
}

const query = (line) => `chat=${line.chat}&after=${line.after}&page=1`;

function openSocket(line) {
  const socket = new WebSocket(`${location.protocol === "https:" ? "wss" : "ws"}://${location.host}/v1/ws?${query(line)}`);
  let begun = false;
  const slow = setTimeout(() => !begun && socket.close(), 8000);
  line.close = () => {
    clearTimeout(slow);
    socket.onmessage = socket.onclose = null;
    socket.close();
  };
  socket.onmessage = ({ data }) => {
    const message = JSON.parse(data);
    line.heard = Date.now();
    if (message.type === "hello") {
      begun = true;
      clearTimeout(slow);
      line.after = Math.max(line.after, message.seq);
      line.opened();
    } else if (message.event === "agent:stream") line.take(message.data);
  };
  socket.onclose = () => {
    clearTimeout(slow);
    if (!begun) line.sockets = false;
    line.lost();
  };
}

async function openStream(line) {
  const stop = new AbortController();
  line.close = () => stop.abort();
  try {
    const answer = await fetch(`/v1/events?${query(line)}`, { signal: stop.signal, cache: "no-store" });
    if (answer.status === 401) location.reload();
    if (!answer.ok) throw new Error(`HTTP ${answer.status}`);
    line.sockets = true;
    const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
    line.opened();
    let rest = "";
    for (;;) {
      const { value, done } = await reader.read();
      if (done) break;
      line.heard = Date.now();
      const pieces = (rest + value).split("\n\n");
      rest = pieces.pop();
      for (const piece of pieces) takeEvent(line, piece);
    }
  } catch {
    if (!stop.signal.aborted) line.sockets = true;
  }
  if (!stop.signal.aborted) line.lost();
}

function takeEvent(line, piece) {
  const data = piece.split("\n").find((row) => row.startsWith("data: "));
  if (data) line.take(JSON.parse(data.slice(6)));
}
