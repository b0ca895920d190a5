// Every sentence of the page, in English and Chinese, and how times are written.

const WORDS = {
  skip: ["Skip to the message box", "跳到消息输入框"],
  chats: ["Chats", "聊天"],
  new_chat: ["New chat", "新聊天"],
  open_menu: ["Open the list of chats", "打开聊天列表"],
  close_menu: ["Close the list of chats", "关闭聊天列表"],
  conversation: ["Conversation", "对话"],
  earlier: ["Show earlier messages", "显示更早的消息"],
  hello: ["What can I do for you?", "我能为你做些什么？"],
  latest: ["Jump to latest", "跳到最新"],
  message: ["Message", "消息"],
  write_here: ["Write to {name}", "给 {name} 写消息"],
  too_long: ["This message has {count} characters; the most is {most}. Shorten it, or send it in pieces.", "这条消息有 {count} 个字符，最多 {most} 个。请缩短，或分段发送。"],
  stop: ["Stop", "停止"],
  stopping: ["Stopping…", "正在停止…"],
  send: ["Send", "发送"],
  hint: ["Enter sends, Shift+Enter begins a new line", "Enter 发送，Shift+Enter 换行"],
  attach: ["Attach files", "添加文件"],
  attach_limits: ["Attach files (up to {count} at once, {size} each)", "添加文件（一次最多 {count} 个，每个最大 {size}）"],
  limits: ["up to {count} at once, {size} each", "一次最多 {count} 个，每个最大 {size}"],
  attached: ["Attached files", "已添加的文件"],
  drop_here: ["Drop files here", "将文件拖放到此处"],
  files: ["Files", "文件"],
  a_file: ["file", "文件"],
  was_attached: ["Attached: {names}", "已添加：{names}"],
  was_removed: ["Removed: {name}", "已移除：{name}"],
  remove_file: ["Remove {name}", "移除 {name}"],
  uploading: ["Uploading {name}", "正在上传 {name}"],
  upload_failed: ["{name} was not uploaded: {why}", "{name} 未能上传：{why}"],
  upload_broken: ["The upload broke off.", "上传中断。"],
  sends_later: ["Sent as soon as the files are uploaded", "文件上传完成后将自动发送"],
  file_large: ["“{name}” is too large ({size}): a file may have up to {limit}.", "“{name}” 太大（{size}）：单个文件最大 {limit}。"],
  files_many: ["“{name}” was left out: a message may have up to {limit} files.", "未添加 “{name}”：一条消息最多 {limit} 个文件。"],
  file_empty: ["“{name}” is empty.", "“{name}” 是空文件。"],
  no_folders: ["“{name}” is a folder. Please attach the files in it.", "“{name}” 是文件夹，请添加其中的文件。"],
  file_expired: ["It has waited too long. Please attach it again.", "等待时间过长，请重新添加。"],
  file_gone: ["no longer here", "已不在此处"],
  open_picture: ["Open the picture", "打开图片"],
  download: ["Download {name}", "下载 {name}"],
  untitled: ["New chat", "新聊天"],
  today: ["Today", "今天"],
  yesterday: ["Yesterday", "昨天"],
  week: ["Earlier this week", "本周早些时候"],
  older: ["Older", "更早"],
  working: ["working", "进行中"],
  you_said: ["You said:", "你说："],
  thinking: ["Thinking", "思考中"],
  queued: ["Waiting for its turn", "排队等候中"],
  waiting: ["Waiting for your decision", "等待你的决定"],
  copy: ["Copy", "复制"],
  copied: ["Copied", "已复制"],
  copy_answer: ["Copy the answer", "复制回答"],
  copy_code: ["Copy the code", "复制代码"],
  sending: ["Sending…", "正在发送…"],
  kept: ["Not sent yet. It is kept here and sent as soon as the connection is back.", "尚未发送。消息已保留，连接恢复后会自动发送。"],
  kept_why: ["Not sent yet. {why} It is kept here and sent by itself once that is mended.", "尚未发送。{why}消息已保留，问题解决后会自动发送。"],
  failed: ["Not sent: {why}", "未发送：{why}"],
  retry: ["Try again", "重试"],
  discard: ["Discard", "丢弃"],
  using: ["Using tools", "正在使用工具"],
  used_one: ["Used {name}", "使用了 {name}"],
  used_many: ["Used {count} tools", "使用了 {count} 个工具"],
  asks_to_one: ["Asks to use {name}", "请求使用 {name}"],
  asks_to_many: ["Asks to use {count} tools", "请求使用 {count} 个工具"],
  broke_one: ["{name} failed", "{name} 失败"],
  broke_many: ["{count} tools failed", "{count} 个工具失败"],
  unused_one: ["{name} was not used", "未使用 {name}"],
  unused_many: ["{count} tools were not used", "未使用 {count} 个工具"],
  tool_unused: ["not used", "未使用"],
  tool_failed: ["failed", "失败"],
  tool_running: ["running", "运行中"],
  tool_done: ["done", "完成"],
  approve: ["May I do this?", "可以执行吗？"],
  once: ["Once", "仅此一次"],
  chat: ["This chat", "本聊天"],
  always: ["Always", "始终"],
  deny: ["Deny", "拒绝"],
  once_why: ["Allow this one call", "只允许这一次调用"],
  chat_why: ["Allow this tool in this chat", "在本聊天中允许此工具"],
  always_why: ["Allow this tool in every chat of yours", "在你的所有聊天中允许此工具"],
  deny_why: ["Do not run it", "不执行"],
  expires: ["Denied automatically in {time}", "{time} 后自动拒绝"],
  was_once: ["Allowed once", "已允许一次"],
  was_chat: ["Allowed for this chat", "已在本聊天中允许"],
  was_always: ["Always allowed", "已始终允许"],
  was_deny: ["Denied", "已拒绝"],
  was_expired: ["Expired, not run", "已过期，未执行"],
  was_void: ["No longer needed", "已无需决定"],
  by: ["by {name}", "由 {name}"],
  effect_read: ["reads", "读取"],
  effect_write: ["writes files", "写入文件"],
  effect_send: ["sends to others", "向他人发送"],
  effect_run: ["runs a program", "运行程序"],
  effect_spend: ["spends money", "花费金钱"],
  arguments: ["Arguments", "参数"],
  ended_badly: ["The answer could not be finished ({stop}).", "回答未能完成（{stop}）。"],
  fresh: ["A new conversation begins here", "新的对话从这里开始"],
  answered: ["Answer: {text}", "回答：{text}"],
  asks: ["{tool} asks for your approval.", "{tool} 请求你的批准。"],
  lost: ["Connection lost. Trying again…", "连接已断开，正在重试…"],
  back: ["Connected again", "已重新连接"],
  try_now: ["Try now", "立即重试"],
  load_failed: ["This chat could not be loaded: {why}", "无法加载此聊天：{why}"],
  no_answer: ["the server does not answer", "服务器没有响应"],
  model_downloading: ["Fetching the model {name}", "正在下载模型 {name}"],
  model_loading: ["Loading the model {name}", "正在加载模型 {name}"],
  model_absent: ["No model yet", "尚无模型"],
  model_failed: ["The built-in model could not be prepared", "内置模型准备失败"],
  model_demo: ["Demo model", "演示模型"],
  model_is: ["Model: {name}", "模型：{name}"],
  demo: [
    "You are talking to the small built-in model. It shows how everything works, but it makes mistakes.",
    "你正在与内置的小模型对话。它能展示各项功能，但会出错。",
  ],
  absent: ["There is no language model yet. Commands such as /help work meanwhile.", "目前还没有语言模型，/help 等命令仍可使用。"],
  better: ["How to plug in a better one", "如何接入更好的模型"],
  about_title: ["The model that answers", "正在回答的模型"],
  about_key: [
    "Put ANTHROPIC_API_KEY=… or OPENAI_API_KEY=… into the file .env beside config.yaml, and restart Bowerbird.",
    "在 config.yaml 旁的 .env 文件中写入 ANTHROPIC_API_KEY=… 或 OPENAI_API_KEY=…，然后重启 Bowerbird。",
  ],
  about_ollama: [
    "Or install Ollama on this machine and fetch a model, for example with “ollama pull llama3.2”; Bowerbird finds it by itself.",
    "或在本机安装 Ollama 并下载模型，例如 “ollama pull llama3.2”，Bowerbird 会自动找到它。",
  ],
  about_now: ["Now answering: {name}", "当前模型：{name}"],
  dismiss: ["Hide this", "隐藏"],
  close: ["Close", "关闭"],
  keys: ["Keyboard shortcuts", "键盘快捷键"],
  key_send: ["Send", "发送"],
  key_line: ["New line", "换行"],
  key_stop: ["Stop the answer", "停止回答"],
  key_focus: ["Go to the message box", "跳到输入框"],
  key_new: ["New chat", "新聊天"],
  key_chats: ["Previous or next chat", "上一个或下一个聊天"],
  key_help: ["This list", "显示此列表"],
  sign_in: ["Sign in to Bowerbird", "登录 Bowerbird"],
  sign_in_how: ["Enter the access token from the configuration (BOWERBIRD_WEB_TOKEN).", "请输入配置中的访问令牌（BOWERBIRD_WEB_TOKEN）。"],
  token: ["Access token", "访问令牌"],
  enter: ["Sign in", "登录"],
};

const IDEAS = {
  en: [
    "Summarise this text in three sentences: ",
    "Note: water the plants tomorrow",
    "Write a Python script that renames photos by date",
    "Explain compound interest with an example",
  ],
  zh: ["用三句话总结这段文字：", "记一下：明天给花浇水", "写一个按日期重命名照片的 Python 脚本", "举例解释什么是复利"],
};

export const language = (navigator.language || "en").toLowerCase().startsWith("zh") ? "zh" : "en";
export const ideas = IDEAS[language];

export function say(key, values = {}) {
  const sentence = WORDS[key][language === "zh" ? 1 : 0];
  return sentence.replace(/\{(\w+)\}/g, (_, name) => values[name] ?? "");
}

export function has(key) {
  return Object.hasOwn(WORDS, key);
}

// Fills in the sentences of the markup: data-say is the text, data-label the accessible name and the tooltip.
export function translate(root = document) {
  document.documentElement.lang = language === "zh" ? "zh-Hans" : "en";
  for (const one of root.querySelectorAll("[data-say]")) one.textContent = say(one.dataset.say);
  for (const one of root.querySelectorAll("[data-label]")) {
    one.setAttribute("aria-label", say(one.dataset.label));
    if (one.tagName === "BUTTON") one.title = say(one.dataset.label);
  }
}

const clock = new Intl.DateTimeFormat(navigator.language, { hour: "2-digit", minute: "2-digit" });
const full = new Intl.DateTimeFormat(navigator.language, { dateStyle: "full", timeStyle: "short" });
const day = new Intl.DateTimeFormat(navigator.language, { weekday: "long", day: "numeric", month: "long" });

export const timeOf = (seconds) => clock.format(new Date(seconds * 1000));
export const momentOf = (seconds) => full.format(new Date(seconds * 1000));

export function daysAgo(seconds) {
  const midnight = new Date().setHours(0, 0, 0, 0);
  return Math.max(0, Math.ceil((midnight - seconds * 1000) / 86400000));
}

export function dayOf(seconds) {
  const ago = daysAgo(seconds);
  return ago === 0 ? say("today") : ago === 1 ? say("yesterday") : day.format(new Date(seconds * 1000));
}

// Whole seconds, for what still runs; nothing before the first.
export const soFar = (seconds) => (seconds < 1 ? "" : durationOf(Math.floor(seconds)).replace(".0", ""));

// 870 B, 45 KB, 1.2 MB, 20 MB
export function sizeOf(bytes) {
  if (bytes < 1000) return `${bytes} B`;
  const [size, unit] = bytes < 1000 * 1024 ? [bytes / 1024, "KB"] : [bytes / 1048576, "MB"];
  return `${size < 10 && unit === "MB" ? Math.round(size * 10) / 10 : Math.round(size)} ${unit}`;
}

// 4.2 s, 12 s, 3 min 5 s
export function durationOf(seconds) {
  if (seconds < 10) return `${(Math.round(seconds * 10) / 10).toFixed(1)} s`;
  if (seconds < 60) return `${Math.round(seconds)} s`;
  const rest = Math.round(seconds % 60);
  return `${Math.floor(seconds / 60)} min${rest ? ` ${rest} s` : ""}`;
}
