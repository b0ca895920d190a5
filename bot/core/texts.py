"""Every sentence the bot itself says to a person, in English and Chinese: one table, one function."""

from __future__ import annotations

from typing import Final

TEXTS: Final[dict[str, dict[str, str]]] = {
    # how a turn ended (StopReason); "" says nothing beside the answer
    "end_answered": {"en": "", "zh": ""},
    "end_command": {"en": "", "zh": ""},
    "end_caller_tools": {"en": "", "zh": ""},
    "end_stopped": {"en": "Stopped.", "zh": "已停止。"},
    "end_interrupted": {
        "en": "Interrupted: I am restarting and will go on here.",
        "zh": "已中断：我正在重启，稍后会在这里继续。",
    },
    "end_tool_limit": {
        "en": "The limit of {limit} tool calls for one message was reached.",
        "zh": "已达到单条消息 {limit} 次工具调用的上限。",
    },
    "end_token_budget": {
        "en": "The token budget of this turn is spent ({limit} tokens).",
        "zh": "本轮的令牌预算已用完（{limit} 个令牌）。",
    },
    "end_time_limit": {
        "en": "The time limit of {limit} seconds for one message was reached.",
        "zh": "已达到单条消息 {limit} 秒的时间上限。",
    },
    "end_truncated": {
        "en": "The answer was cut off at the model's output limit. Say “go on” for the rest.",
        "zh": "回答因达到模型输出上限而被截断。回复“继续”可查看其余部分。",
    },
    "end_refused": {"en": "The model declined to answer this.", "zh": "模型拒绝回答这个问题。"},
    "end_context_overflow": {
        "en": "This message is too long for the model. Shorten it, or start a new conversation with /new.",
        "zh": "这条消息对模型来说太长了。请缩短内容，或用 /new 开始新的对话。",
    },
    "end_empty": {
        "en": "The model returned an empty answer, twice. Please try again or rephrase.",
        "zh": "模型两次返回了空回答。请重试或换一种说法。",
    },
    "end_unreadable": {"en": "", "zh": ""},
    "end_provider_unavailable": {
        "en": "No model can be reached right now. Please try again in a few minutes. (Reference {reference})",
        "zh": "目前无法连接任何模型，请几分钟后再试。（编号 {reference}）",
    },
    "end_no_model": {
        "en": "I have no language model yet. {how}",
        "zh": "我还没有可用的语言模型。{how}",
    },
    "end_approval_denied": {"en": "You denied this.", "zh": "你已拒绝该操作。"},
    "end_approval_expired": {"en": "Nobody approved this in time.", "zh": "没有人及时批准该操作。"},
    "end_parked": {
        "en": "Sorry: I broke down twice on this message, so I have set it aside. Please rephrase it or send it again.",
        "zh": "抱歉：处理这条消息时我两次崩溃，已将其搁置。请换一种说法或重新发送。",
    },
    "end_internal_error": {
        "en": "Sorry, something went wrong on my side. Please send it again. (Reference {reference})",
        "zh": "抱歉，我这边出了点问题，请重新发送。（编号 {reference}）",
    },
    # how to get a model
    "get_model": {
        "en": "Set ANTHROPIC_API_KEY or OPENAI_API_KEY in .env and restart, or start Ollama on this machine,"
        " or let me download the small local model (see `bowerbird doctor`). Commands such as /help work meanwhile.",
        "zh": "请在 .env 中设置 ANTHROPIC_API_KEY 或 OPENAI_API_KEY 后重启，或在本机启动 Ollama，"
        "或让我下载小型本地模型（见 `bowerbird doctor`）。在此期间 /help 等命令仍可使用。",
    },
    "instead_key_refused": {
        "en": "{wanted} does not accept its key (the owner should check it in .env or config.yaml), so {model} answered.",
        "zh": "{wanted} 不接受当前密钥（请机器人所有者检查 .env 或 config.yaml），因此由 {model} 回答。",
    },
    "instead_no_credit": {
        "en": "The account of {wanted} has no credit left (the owner should top it up), so {model} answered.",
        "zh": "{wanted} 的账户余额不足（请机器人所有者充值），因此由 {model} 回答。",
    },
    "instead_model_missing": {
        "en": "{wanted} does not exist at its provider (the owner should check brain.llm in config.yaml), so {model} answered.",
        "zh": "提供方没有 {wanted}（请机器人所有者检查 config.yaml 中的 brain.llm），因此由 {model} 回答。",
    },
    "instead_request_refused": {
        "en": "{wanted} refused this request, so {model} answered.",
        "zh": "{wanted} 拒绝了这次请求，因此由 {model} 回答。",
    },
    "instead_unreachable": {
        "en": "{wanted} could not be reached, so {model} answered.",
        "zh": "无法连接 {wanted}，因此由 {model} 回答。",
    },
    # what keeps a model from answering, and who can mend it (bot.core.faults)
    "with_reference": {"en": "{told} (Reference {reference})", "zh": "{told}（编号 {reference}）"},
    "fault_key_refused": {
        "en": "{provider} does not accept its key: the owner should check it in .env or config.yaml.",
        "zh": "{provider} 不接受当前密钥：请机器人所有者检查 .env 或 config.yaml。",
    },
    "fault_no_credit": {
        "en": "The account at {provider} has no credit left: the owner should top it up, or choose another model.",
        "zh": "{provider} 账户余额不足：请机器人所有者充值或改用其他模型。",
    },
    "fault_model_missing": {
        "en": "{provider} has no model “{model}”: the owner should check brain.llm in config.yaml, and base_url of this provider.",
        "zh": "{provider} 没有模型“{model}”：请机器人所有者检查 config.yaml 中的 brain.llm 以及该提供方的 base_url。",
    },
    "fault_request_refused": {
        "en": "{provider} refused this request; the reason is in the log. Start a new conversation with /new, or ask the owner.",
        "zh": "{provider} 拒绝了这次请求，原因见日志。请用 /new 开始新的对话，或联系机器人所有者。",
    },
    "fault_context_too_long": {
        "en": "This conversation is too long for {model} at {provider}. Start a new one with /new.",
        "zh": "这段对话对 {provider} 的 {model} 来说太长了。请用 /new 开始新的对话。",
    },
    "fault_busy": {
        "en": "{provider} has too much to do right now. Please try again in a few minutes.",
        "zh": "{provider} 目前过于繁忙，请几分钟后再试。",
    },
    "fault_limited": {
        "en": "{provider} takes no more requests of this account until {until}: its limit is reached. Please try again then.",
        "zh": "{provider} 在 {until} 之前不再接受此账户的请求：已达到其限额。请届时再试。",
    },
    "fault_failed": {
        "en": "{provider} has a fault on its side. Please try again in a few minutes.",
        "zh": "{provider} 一方出现故障，请几分钟后再试。",
    },
    "fault_unreachable": {
        "en": "{provider} cannot be reached: the owner should check the network, and base_url of this provider in config.yaml."
        " Otherwise try again in a few minutes.",
        "zh": "无法连接 {provider}：请机器人所有者检查网络以及 config.yaml 中该提供方的 base_url，或几分钟后再试。",
    },
    "fault_stalled": {
        "en": "{provider} fell silent before its answer was complete. Please try again in a few minutes.",
        "zh": "{provider} 在回答完成前没有了响应，请几分钟后再试。",
    },
    "fault_cut": {
        "en": "{provider} broke off before its answer was complete. Please try again.",
        "zh": "{provider} 在回答完成前中断了连接，请重试。",
    },
    "fault_garbled": {
        "en": "{provider} sends something that is not a model's answer: the owner should check base_url of this provider in config.yaml.",
        "zh": "{provider} 返回的内容不是模型的回答：请机器人所有者检查 config.yaml 中该提供方的 base_url。",
    },
    "fault_local": {
        "en": "The model on this machine does not work right now; `bowerbird doctor` says more. Please try again in a few minutes.",
        "zh": "本机上的模型目前无法工作，详情见 `bowerbird doctor`。请几分钟后再试。",
    },
    "fault_local_busy": {
        "en": "The model on this machine is still being made ready. Please try again in a moment.",
        "zh": "本机上的模型仍在准备中，请稍后再试。",
    },
    "store_damaged": {
        "en": "The store was damaged and has been replaced: {saved} rows were saved, the old file is kept in {aside}."
        " If something is missing, that file is where it may still be found.",
        "zh": "存储文件曾损坏，现已替换：已保存 {saved} 行，旧文件保留在 {aside}。如有缺失，可在该文件中查找。",
    },
    "store_damaged_cut": {
        "en": "Some rows could not be read any more ({tables}).",
        "zh": "部分数据已无法读取（{tables}）。",
    },
    # presses
    "press_unknown": {"en": "This button no longer does anything.", "zh": "这个按钮已失效。"},
    "press_not_yours": {"en": "Only an owner can decide this.", "zh": "只有所有者可以决定。"},
    "press_decided": {"en": "Already decided: {decision}", "zh": "已经决定：{decision}"},
    "press_stopped": {"en": "Stopping.", "zh": "正在停止。"},
    "press_stop_not_yours": {
        "en": "Only the person who asked, or an owner, can stop this.",
        "zh": "只有提问者或所有者可以停止。",
    },
    "press_nothing": {"en": "Nothing is running.", "zh": "当前没有正在进行的任务。"},
    "decision_once": {"en": "Approved once.", "zh": "已批准一次。"},
    "decision_chat": {"en": "Approved for this chat.", "zh": "已在本聊天中批准。"},
    "decision_always": {"en": "Approved for good.", "zh": "已永久批准。"},
    "decision_deny": {"en": "Denied.", "zh": "已拒绝。"},
    "decision_expired": {"en": "Expired: it was not run.", "zh": "已过期，未执行。"},
    "decision_void": {"en": "No longer needed: the turn is over.", "zh": "本轮已结束，无需决定。"},
    "asks_because_effect": {"en": "This tool {effect}.", "zh": "此工具会{effect}。"},
    "asks_because_rule": {
        "en": "This tool {effect}; the rule “{rule}” asks first.",
        "zh": "此工具会{effect}；规则“{rule}”要求先询问。",
    },
    "effect_read": {"en": "only reads", "zh": "读取内容"},
    "effect_write": {"en": "writes to your files", "zh": "写入你的文件"},
    "effect_send": {"en": "sends something to others", "zh": "向他人发送内容"},
    "effect_run": {"en": "runs a program", "zh": "运行程序"},
    "effect_spend": {"en": "spends money", "zh": "花费金钱"},
    # commands
    "command_start": {
        "en": "Hello, I am {name}. Write to me as you would to a person; /help shows what else I understand.",
        "zh": "你好，我是 {name}。像和人聊天一样给我发消息即可；发送 /help 查看更多功能。",
    },
    "command_help": {
        "en": "Just write. Commands:\n\n- /new: start a new conversation\n- /stop: stop what I am doing\n"
        "- /retry: answer your last message once more\n"
        "- /status: how I am doing\n- /model: which models answer\n- /usage: what today cost\n- /settings: language, time zone and more\n"
        "- /link: you are the same person on another platform\n- /help: this text",
        "zh": "直接发消息即可。命令：\n\n- /new：开始新的对话\n- /stop：停止当前任务\n"
        "- /retry：重新回答你的上一条消息\n- /status：运行状态\n- /model：使用的模型\n- /usage：今日用量\n- /settings：语言、时区等\n"
        "- /link：在其他平台上是同一个人\n- /help：本帮助",
    },
    "copy_above": {
        "en": "An unfinished copy of this answer may stand above: I was cut off while sending it.",
        "zh": "上方可能有这条回答的未完成副本：发送时我被中断了。",
    },
    # a platform's own menu of commands
    "menu_new": {"en": "Start a new conversation", "zh": "开始新的对话"},
    "menu_stop": {"en": "Stop the answer that is being written", "zh": "停止正在生成的回答"},
    "menu_retry": {"en": "Answer my last message once more", "zh": "重新回答我的上一条消息"},
    "menu_status": {"en": "How I am, and which model answers", "zh": "查看运行状态和当前模型"},
    "menu_usage": {"en": "What you have used today", "zh": "查看今天的用量"},
    "menu_model": {"en": "Which models answer, in which order", "zh": "查看模型及其顺序"},
    "menu_settings": {"en": "Language, time zone and more for this chat", "zh": "本聊天的语言、时区等设置"},
    "menu_help": {"en": "What I can do", "zh": "查看使用帮助"},
    "command_help_owner": {
        "en": "\n- /pair: who waits to be let in, and who may talk to me",
        "zh": "\n- /pair：查看等待批准的人和可以与我交谈的人",
    },
    "command_owners_only": {"en": "Only an owner may use this command.", "zh": "只有所有者可以使用这个命令。"},
    "command_new": {
        "en": "A new conversation. What came before is kept, but I no longer look at it.",
        "zh": "新的对话已开始。之前的内容会保留，但我不再参考。",
    },
    "edited_message": {
        "en": "I have changed my message. It reads now:\n\n{text}",
        "zh": "我修改了我的消息，现在是：\n\n{text}",
    },
    # what owners hear unasked
    "owner_trouble": {"en": "⚠ I do not work as I should: {trouble}", "zh": "⚠ 我的运行出现问题：{trouble}"},
    "deaf_discord": {
        "en": "On Discord I see only messages that mention me, and direct ones: switch on the Message Content Intent in the"
        " developer portal (Bot) and start me again.",
        "zh": "在 Discord 上我只能看到提到我的消息和私信：请在开发者门户（Bot）中打开 Message Content Intent 并重新启动我。",
    },
    "deaf_telegram": {
        "en": "On Telegram my privacy mode is on: in groups I hear only what is meant for me, although I am to answer"
        " everything there. Send /setprivacy to @BotFather, add me to the groups again, and start me again.",
        "zh": "我在 Telegram 上的隐私模式是打开的：在群组中我只能收到发给我的消息，尽管设置要求我回答所有消息。"
        "请向 @BotFather 发送 /setprivacy，把我重新加入群组，然后重新启动我。",
    },
    # groups the bot is added to
    "group_hello": {
        "en": "Hello, I am {name}. Mention me, reply to me or begin with my name, and I answer. /help shows more.",
        "zh": "大家好，我是 {name}。提到我、回复我，或以我的名字开头，我就会回答。发送 /help 查看更多。",
    },
    "group_asks": {
        "en": "`{who}` has added me to the group `{title}` (`{group}`). I say nothing there until you allow it.",
        "zh": "`{who}` 把我加入了群组 `{title}`（`{group}`）。在你允许之前，我不会在那里发言。",
    },
    "button_allow": {"en": "Answer there", "zh": "允许在那里回答"},
    "group_allowed": {"en": "I answer there now.", "zh": "我现在会在那里回答。"},
    "group_known": {"en": "I answer there already.", "zh": "我已经在那里回答了。"},
    # settings of one chat
    "settings_head": {"en": "**Settings of this chat**", "zh": "**本聊天的设置**"},
    "settings_how": {
        "en": "Change one with `/settings NAME VALUE`; `auto` takes it back.",
        "zh": "用 `/settings 名称 值` 修改；`auto` 恢复默认。",
    },
    "setting_language": {"en": "Language of my own texts", "zh": "我自己的文字所用语言"},
    "setting_timezone": {"en": "Time zone", "zh": "时区"},
    "setting_trigger": {"en": "In a group I answer", "zh": "在群组中何时回答"},
    "setting_work": {"en": "What is shown of my work", "zh": "显示多少工作过程"},
    "setting_default": {"en": "as configured", "zh": "按配置"},
    "setting_zones": {
        "en": "A name such as `Europe/Rome` (now `{zone}`) | auto",
        "zh": "如 `Asia/Shanghai`（当前 `{zone}`）| auto",
    },
    "setting_unknown": {
        "en": "There is no setting `{name}`. There are: {keys}.",
        "zh": "没有 `{name}` 这个设置。可用的有：{keys}。",
    },
    "setting_invalid": {"en": "`{name}` can be: {choices}.", "zh": "`{name}` 可以是：{choices}。"},
    "setting_groups_only": {
        "en": "In a direct chat I always answer; this is for groups.",
        "zh": "私聊中我总会回答；此设置用于群组。",
    },
    "setting_changed": {"en": "`{name}` is now: {value}.", "zh": "`{name}` 现在是：{value}。"},
    # one person on several platforms
    "link_direct_only": {"en": "Links are made in a direct chat with me.", "zh": "请在与我的私聊中进行关联。"},
    "link_code": {
        "en": "To tell me that you are the same person elsewhere, send me this there within {minutes} minutes:"
        "\n\n`/link {code}`\n\nThen confirm it here.",
        "zh": "要让我知道你在其他平台上是同一个人，请在 {minutes} 分钟内在那里发给我：\n\n`/link {code}`\n\n然后在这里确认。",
    },
    "link_known": {
        "en": "Linked already: {identities}. `/link off` undoes it for this one.",
        "zh": "已关联：{identities}。`/link off` 取消本账号的关联。",
    },
    "link_confirm": {
        "en": "{who} sent me your code. If that is you, send me `/link {code}` here; if not, do nothing.",
        "zh": "{who} 发来了你的代码。如果那是你，请在这里发送 `/link {code}`；否则请忽略。",
    },
    "link_wait": {
        "en": "Now send me `/link {code}` once more where you began ({channel}), and we are done.",
        "zh": "现在请在你开始的地方（{channel}）再发送一次 `/link {code}`，即可完成。",
    },
    "link_other_side": {
        "en": "Send `/link {code}` on the other platform first.",
        "zh": "请先在另一个平台发送 `/link {code}`。",
    },
    "link_done": {"en": "Done: you and {who} are one person to me.", "zh": "完成：我会把你和 {who} 视为同一个人。"},
    "link_unknown": {
        "en": "I do not know this code, or it is over. Begin again with /link.",
        "zh": "代码未知或已过期。请用 /link 重新开始。",
    },
    "link_locked": {"en": "Too many wrong codes: try again in an hour.", "zh": "错误代码过多：请一小时后再试。"},
    "link_off": {"en": "This account is on its own again.", "zh": "此账号已取消关联。"},
    "link_none": {"en": "This account is not linked with another.", "zh": "此账号没有关联其他账号。"},
    "retry_nothing": {
        "en": "There is nothing in this conversation that I could answer once more.",
        "zh": "这个对话中没有可以重新回答的消息。",
    },
    "command_not_here": {
        "en": "I do not answer in this chat: an owner has to allow it first.",
        "zh": "我不在这个聊天中回答：需要先由所有者允许。",
    },
    "command_unknown": {
        "en": "I do not know the command /{name}. /help lists the ones I know.",
        "zh": "我不认识命令 /{name}。发送 /help 查看可用命令。",
    },
    "command_status": {
        "en": "Bowerbird {version}, up for {minutes} minutes.\n\nChannels: {channels}\nModels: {model}",
        "zh": "Bowerbird {version}，已运行 {minutes} 分钟。\n\n渠道：{channels}\n模型：{model}",
    },
    "command_model": {"en": "Models, in this order: {models}\n\n{demo}", "zh": "模型（按顺序）：{models}\n\n{demo}"},
    "command_model_demo": {
        "en": "A small demo model on this machine is answering. For a better one: {how}",
        "zh": "目前由本机上的小型演示模型回答。想要更好的模型：{how}",
    },
    "command_usage": {"en": "Your usage today:", "zh": "你今天的用量："},
    "command_usage_none": {"en": "You have used no model today.", "zh": "你今天还没有使用过模型。"},
    "command_usage_line": {
        "en": "- {model}: {calls} calls, {read} tokens read, {written} written, {usd}",
        "zh": "- {model}：{calls} 次调用，读入 {read} 令牌，写出 {written} 令牌，{usd}",
    },
    # who may talk
    "refused_stranger": {
        "en": "I only talk to people my owner has let in.",
        "zh": "我只与所有者允许的人交谈。",
    },
    "refused_with_code": {
        "en": "I only talk to people my owner has let in. Your code is {code}; it is valid for one hour. Give it to my owner,"
        " who can let you in with /pair {code} in a chat with me, or on my machine with: bowerbird pair approve {code}",
        "zh": "我只与所有者允许的人交谈。你的配对码是 {code}，一小时内有效。请把它交给我的所有者，"
        "由其在与我的聊天中发送 /pair {code}，或在我运行的机器上执行：bowerbird pair approve {code}",
    },
    "refused_crowd": {
        "en": "I only talk to people my owner has let in, and too many are waiting for that already. Please write again in an hour.",
        "zh": "我只与所有者允许的人交谈，目前等待批准的人太多。请一小时后再发消息。",
    },
    "refused_too_long": {
        "en": "This message is longer than {limit} characters. Please send it in pieces.",
        "zh": "这条消息超过 {limit} 个字符，请分段发送。",
    },
    "refused_empty": {"en": "There is no text in this message.", "zh": "这条消息没有文字。"},
    # pairing: {who} is a name with an identity such as telegram:7
    "pair_greeting": {
        "en": "You have been let in. Write to me as you would to a person; /help shows what else I understand.",
        "zh": "你已获准与我交谈。像和人聊天一样给我发消息即可；发送 /help 查看更多功能。",
    },
    "pair_greeting_owner": {
        "en": "You have been let in and are my owner here: you decide what my tools may do, and let others in with /pair."
        " Write to me as you would to a person; /help shows what else I understand.",
        "zh": "你已获准与我交谈，并成为我在这里的所有者：由你决定我的工具可以做什么，并可用 /pair 允许其他人。"
        "像和人聊天一样给我发消息即可；发送 /help 查看更多功能。",
    },
    "pair_approved": {"en": "{who} may now talk to me.", "zh": "{who} 现在可以与我交谈。"},
    "pair_approved_owner": {
        "en": "{who} may now talk to me and, as the first one on {channel}, is its owner.",
        "zh": "{who} 现在可以与我交谈，并作为 {channel} 上的第一个人成为所有者。",
    },
    "pair_already": {"en": "{who} was let in with this code before.", "zh": "{who} 此前已凭此配对码获准。"},
    "pair_unknown": {
        "en": "This code is wrong, or more than an hour old.",
        "zh": "这个配对码不正确，或已超过一小时。",
    },
    "pair_locked": {
        "en": "Too many wrong codes. Try again in an hour, or on my machine with: bowerbird pair approve",
        "zh": "错误的配对码太多。请一小时后再试，或在我运行的机器上执行：bowerbird pair approve",
    },
    "pair_revoked": {"en": "{who} may no longer talk to me.", "zh": "{who} 不能再与我交谈。"},
    "pair_turned_down": {"en": "The code of {who} no longer counts.", "zh": "{who} 的配对码已作废。"},
    "pair_not_paired": {
        "en": "Nobody with the id {who} was let in, and nobody with it waits.",
        "zh": "没有 ID 为 {who} 的人获准或等待批准。",
    },
    "pair_configured": {
        "en": "{who} stands in config.yaml: take the id out of channels.{channel}.access there and restart me.",
        "zh": "{who} 写在 config.yaml 中：请从 channels.{channel}.access 中删除该 ID，然后重启我。",
    },
    "pair_direct_only": {
        "en": "Names and codes are not for groups: send me /pair in a direct chat.",
        "zh": "姓名和配对码不适合在群组中显示：请在私聊中发送 /pair。",
    },
    "pair_waiting": {"en": "Waiting to be let in:", "zh": "等待批准："},
    "pair_nobody_waits": {"en": "Nobody waits to be let in.", "zh": "没有人等待批准。"},
    "pair_people": {"en": "Known to me:", "zh": "已知的人："},
    "pair_nobody": {"en": "Nobody has been let in yet.", "zh": "尚未允许任何人。"},
    "pair_line": {"en": "- {who}: {what}", "zh": "- {who}：{what}"},
    "pair_minutes": {"en": "{minutes} min left", "zh": "剩余 {minutes} 分钟"},
    "pair_as_owner": {"en": "owner", "zh": "所有者"},
    "pair_as_user": {"en": "may talk", "zh": "可以交谈"},
    "pair_as_revoked": {"en": "sent away before", "zh": "曾被取消"},
    "pair_usage": {
        "en": "`/pair CODE` lets somebody in, `/pair revoke telegram:7` sends them away.",
        "zh": "`/pair 配对码` 允许某人，`/pair revoke telegram:7` 取消某人。",
    },
    # the live message on platforms that show only text
    "status_thinking": {"en": "thinking…", "zh": "正在思考…"},
    "status_waiting": {"en": "waiting for your decision", "zh": "等待你的决定"},
    "status_seconds": {"en": "{seconds} s", "zh": "{seconds} 秒"},
    "status_failed": {"en": "{tool} failed", "zh": "{tool} 失败"},
    "card_asks": {"en": "May I run {tool}?", "zh": "可以运行 {tool} 吗？"},
    "card_left_out": {"en": "… {count} characters left out …", "zh": "……省略 {count} 个字符……"},
    "button_once": {"en": "Allow once", "zh": "允许一次"},
    "button_chat": {"en": "Allow in this chat", "zh": "在本聊天中允许"},
    "button_always": {"en": "Always allow", "zh": "始终允许"},
    "button_deny": {"en": "Deny", "zh": "拒绝"},
    "button_stop": {"en": "Stop", "zh": "停止"},
    # the terminal
    "terminal_welcome": {
        "en": "Write a message and press Enter (Alt+Enter: new line). Ctrl+C stops an answer, Ctrl+D leaves.",
        "zh": "输入消息后按回车发送（Alt+回车换行）。Ctrl+C 停止回答，Ctrl+D 退出。",
    },
    "terminal_starting": {"en": "Starting Bowerbird…", "zh": "正在启动 Bowerbird…"},
    "terminal_sending": {"en": "sending", "zh": "发送中"},
    "terminal_thinking": {"en": "thinking", "zh": "思考中"},
    "terminal_writing": {"en": "writing", "zh": "书写中"},
    "terminal_waiting": {"en": "waiting for your decision", "zh": "等待你的决定"},
    "terminal_stopping": {"en": "stopping", "zh": "正在停止"},
    "terminal_away": {
        "en": "Bowerbird is away; what you write is kept and sent when it is back",
        "zh": "Bowerbird 暂时不在；你写的内容会保留，恢复后发送",
    },
    "terminal_may": {"en": "May {tool} run? ({effect})", "zh": "允许运行 {tool} 吗？（{effect}）"},
    "terminal_choices": {"en": "{tool}: type {choices}", "zh": "{tool}：请输入 {choices}"},
    "terminal_no_card": {"en": "Nothing waits for your decision.", "zh": "目前没有需要你决定的事项。"},
    "terminal_which_card": {
        "en": "Add the number of the question, such as {verb} {number}.",
        "zh": "请加上问题的编号，例如 {verb} {number}。",
    },
    "terminal_card_changed": {
        "en": "The question changed while you were typing. Read it, then answer again.",
        "zh": "你输入时问题已经变化。请看清后再回答。",
    },
    "terminal_not_offered": {"en": "{verb} is not possible here.", "zh": "这里不能用 {verb}。"},
    "terminal_rewritten": {"en": "(the answer is written anew)", "zh": "（回答已重新书写）"},
    "terminal_empty": {"en": "(no answer: {reason})", "zh": "（没有回答：{reason}）"},
    "terminal_elsewhere": {
        "en": "{tool} waits for your decision: open `bowerbird chat` in another terminal, or stop with Ctrl+C.",
        "zh": "{tool} 正在等待你的决定：请在另一个终端打开 `bowerbird chat`，或按 Ctrl+C 停止。",
    },
    "terminal_no_cursor": {
        "en": "Write your message and end it with Ctrl+D on a line of its own.",
        "zh": "请输入消息，并在单独一行按 Ctrl+D 结束。",
    },
    "terminal_file": {"en": "file: {path}", "zh": "文件：{path}"},
    # files that came with a message; {name} is the file's
    "file_large": {
        "en": "“{name}” is too large for me: I take files of up to {limit} MB.",
        "zh": "“{name}” 太大了：我最多接收 {limit} MB 的文件。",
    },
    "file_many": {
        "en": "Those were too many files at once: I take {limit}, and left out “{name}”.",
        "zh": "一次发送的文件太多：我最多处理 {limit} 个，未处理 “{name}”。",
    },
    "file_gone": {
        "en": "I could not fetch “{name}”: it is gone, or the platform does not give it out.",
        "zh": "无法获取 “{name}”：它已不存在，或平台不提供下载。",
    },
    "file_kind": {"en": "I cannot open files like “{name}”.", "zh": "我不能打开 “{name}” 这类文件。"},
    "file_broken": {
        "en": "I could not read “{name}”: it is damaged, or too complicated for me.",
        "zh": "无法读取 “{name}”：文件已损坏，或对我来说太复杂。",
    },
    "file_locked": {
        "en": "“{name}” is protected by a password. Please send it without one.",
        "zh": "“{name}” 有密码保护，请发送没有密码的版本。",
    },
    "file_blank": {
        "en": "There is no text in “{name}” that I could read; perhaps it is scanned.",
        "zh": "“{name}” 中没有我能读取的文字，可能是扫描件。",
    },
    "file_reader": {
        "en": "The part of me that opens files like “{name}” is not installed. My owner can add it: pip install 'bowerbird[files]'",
        "zh": "尚未安装用于打开 “{name}” 这类文件的组件。机器人所有者可以安装：pip install 'bowerbird[files]'",
    },
    "file_slow": {
        "en": "“{name}” took too long to open, so I went on without it.",
        "zh": "打开 “{name}” 用时过长，因此我跳过了它。",
    },
    "file_unopened": {"en": "I did not get to open “{name}”.", "zh": "我没有来得及打开 “{name}”。"},
    "file_deaf": {
        "en": "I cannot listen to “{name}”: no service that writes speech down is set up (brain.llm.transcribe in config.yaml)."
        " Please write instead.",
        "zh": "我不能收听 “{name}”：尚未设置语音转文字服务（config.yaml 中的 brain.llm.transcribe）。请改用文字。",
    },
    "file_unheard": {
        "en": "I could not listen to “{name}”: the service that writes speech down failed. Please try again later, or write.",
        "zh": "无法收听 “{name}”：语音转文字服务出错。请稍后再试，或改用文字。",
    },
    "file_silent": {
        "en": "I heard nothing in “{name}”. Please say it again, or write.",
        "zh": "我在 “{name}” 中没有听到内容。请再说一遍，或改用文字。",
    },
    "file_cut": {
        "en": "“{name}” is long: I read its beginning and its end, and left out what lies between.",
        "zh": "“{name}” 很长：我只读了开头和结尾，省略了中间部分。",
    },
    "file_still": {"en": "“{name}” moves: I see only its first picture.", "zh": "“{name}” 是动图：我只能看到第一帧。"},
    "file_unseen": {
        "en": "The model that answers here cannot see pictures (“{name}”).",
        "zh": "这里使用的模型看不到图片（“{name}”）。",
    },
    "file_refused": {
        "en": "{model} did not take the picture, so it answers without it.",
        "zh": "{model} 没有接受图片，因此在没有图片的情况下回答。",
    },
    "file_unsent": {
        "en": "I could not send you “{name}” here: this platform does not take it.",
        "zh": "无法在这里发送 “{name}”：平台不接受该文件。",
    },
}


def say(key: str, language: str = "en", **values: object) -> str:
    """The sentence ``key`` in ``language`` (``zh…`` is Chinese, anything else English) with ``values`` filled in."""
    entry = TEXTS[key]
    return entry["zh" if language.lower().startswith("zh") else "en"].format(**values)


def language_of(text: str, wanted: str = "auto", person: str = "") -> str:
    """The language for the bot's own sentences: ``wanted`` unless that is ``auto``, else by the script of ``text``.

    A command or a number says nothing of it: there the language that the platform tells of the ``person`` counts.
    """
    if wanted != "auto":
        return wanted
    if any("\u4e00" <= char <= "\u9fff" for char in text):
        return "zh"
    silent = text.lstrip().startswith("/") or not any(char.isalpha() for char in text)
    return (person if silent else "") or "en"
