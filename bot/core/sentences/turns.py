"""What is said of a turn: how it ended, what kept a model from answering, its live line, its files."""

from __future__ import annotations

from typing import Final

TEXTS: Final[dict[str, dict[str, str]]] = {
    # how a turn ended (StopReason); "" says nothing beside the answer
    "end_answered": {"en": "", "zh": ""},
    "end_command": {"en": "", "zh": ""},
    "end_caller_tools": {"en": "", "zh": ""},
    "end_stopped": {"en": "Stopped.", "zh": "已停止。"},
    "end_tool_interrupted": {
        "en": "Stopped while a tool was at work: whether it took effect is unknown.",
        "zh": "已在工具运行时停止：该操作是否生效尚不清楚。",
    },
    "end_hook_blocked": {
        "en": "A rule of this bot's owner (a hook) does not allow this. {limit}",
        "zh": "机器人所有者设置的规则（钩子）不允许此操作。{limit}",
    },
    "end_tool_limit": {
        "en": "The limit of {limit} tool calls for one message was reached.",
        "zh": "已达到单条消息 {limit} 次工具调用的上限。",
    },
    "end_loop": {
        "en": "I stopped here: {limit} calls of tools in a row brought nothing new.",
        "zh": "我在此停止：连续 {limit} 次工具调用都没有带来新的结果。",
    },
    "end_token_budget": {
        "en": "The token budget of this turn is spent ({limit} tokens).",
        "zh": "本轮的令牌预算已用完（{limit} 个令牌）。",
    },
    "end_diminishing": {
        "en": "I stopped here: the budget of this turn ({limit} tokens) is almost spent, and the last rounds added next to nothing.",
        "zh": "我在此停止：本轮预算（{limit} 个令牌）即将用完，而最近几轮几乎没有新的进展。",
    },
    "end_money": {
        "en": "The budget for today is spent. {limit}",
        "zh": "今天的预算已用完。{limit}",
    },
    "end_time_limit": {
        "en": "The time limit of {limit} seconds for one message was reached.",
        "zh": "已达到单条消息 {limit} 秒的时间上限。",
    },
    "end_truncated": {
        "en": "The answer is cut off here: the model's output limit was reached again and again. Say “go on” for the rest.",
        "zh": "回答在此被截断：多次达到模型的输出上限。回复“继续”可查看其余部分。",
    },
    "end_refused": {"en": "The model declined to answer this.", "zh": "模型拒绝回答这个问题。"},
    "end_context_overflow": {
        "en": "This is too long for the model: {limit} Shorten the message, or start a new conversation with /new.",
        "zh": "内容对模型来说太长了：{limit}请缩短消息，或用 /new 开始新的对话。",
    },
    "end_compacted_overflow": {
        "en": "Even with the older conversation summarised, this does not fit the model's window: {limit}"
        " Shorten the message, or start a new conversation with /new.",
        "zh": "即使压缩了较早的对话，内容仍超出模型的上下文窗口：{limit}请缩短消息，或用 /new 开始新的对话。",
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
    "end_approval_denied": {
        "en": "Not done: it was denied. What would you like instead?",
        "zh": "没有执行：已被拒绝。想改成什么？",
    },
    "end_approval_expired": {
        "en": "Not done: nobody approved it in time.",
        "zh": "没有执行：没有人及时批准。",
    },
    "end_parked": {
        "en": "Sorry: I broke down twice on this message, so I have set it aside. Please rephrase it or send it again.",
        "zh": "抱歉：处理这条消息时我两次崩溃，已将其搁置。请换一种说法或重新发送。",
    },
    "end_internal_error": {
        "en": "Sorry, something went wrong on my side. Please send it again. (Reference {reference})",
        "zh": "抱歉，我这边出了点问题，请重新发送。（编号 {reference}）",
    },
    "restarting": {
        "en": "Interrupted: I am restarting and will go on here.",
        "zh": "已中断：我正在重启，稍后会在这里继续。",
    },
    "no_private_model": {
        "en": "This is to stay on this machine or network, and no model there can answer now. It was not sent anywhere else.",
        "zh": "此内容须留在本机或本地网络，而目前那里没有可用的模型。它没有被发送到其他任何地方。",
    },
    "no_picked_model": {
        "en": "The model picked for this chat, {model}, cannot be asked now, and no other may take its place. /model auto undoes that.",
        "zh": "本聊天选定的模型 {model} 目前无法使用，且不会由其他模型代替。发送 /model auto 可取消选定。",
    },
    "prompt_parts": {
        "en": "the system prompt has about {system} tokens, the tools {tools}, the messages {messages}, the window {window}.",
        "zh": "系统提示约 {system} 个令牌，工具 {tools} 个，消息 {messages} 个，窗口为 {window} 个。",
    },
    # money
    "money_notice": {
        "en": "{share} % of today's budget is spent. It starts anew {reset}.",
        "zh": "今天的预算已用去 {share}%，将于{reset}重新开始计算。",
    },
    "money_free_only": {
        "en": "Today's budget is spent, so {model} answers, which costs nothing. It starts anew {reset}.",
        "zh": "今天的预算已用完，因此由免费的 {model} 回答。预算将于{reset}重新开始计算。",
    },
    "money_reset": {"en": "It starts anew {reset}.", "zh": "预算将于{reset}重新开始计算。"},
    "money_at": {"en": "at {time} ({zone})", "zh": " {time}（{zone}）"},
    "money_spent": {
        "en": "Today's budget for models is spent: until midnight only models that cost nothing answer."
        " It is set under brain.money in config.yaml.",
        "zh": "今天的模型预算已用完：午夜之前只由免费的模型回答。预算在 config.yaml 的 brain.money 中设置。",
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
        "en": "{wanted} refused this request (the log says why), so {model} answered.",
        "zh": "{wanted} 拒绝了这次请求（原因见日志），因此由 {model} 回答。",
    },
    "instead_too_long": {
        "en": "This conversation is too long for {wanted} (/new starts another one), so {model} answered.",
        "zh": "这段对话对 {wanted} 来说太长（发送 /new 可开始新的对话），因此由 {model} 回答。",
    },
    "instead_busy": {
        "en": "{wanted} has too much to do right now (if that goes on, the owner should look at the account's limits),"
        " so {model} answered.",
        "zh": "{wanted} 目前过于繁忙（如持续如此，请机器人所有者检查账户限额），因此由 {model} 回答。",
    },
    "instead_failed": {
        "en": "{wanted} has a fault on its side (all one can do is try again later), so {model} answered.",
        "zh": "{wanted} 一方出现故障（只能稍后再试），因此由 {model} 回答。",
    },
    "instead_unreachable": {
        "en": "{wanted} could not be reached (the owner should check the network and base_url), so {model} answered.",
        "zh": "无法连接 {wanted}（请机器人所有者检查网络和 base_url），因此由 {model} 回答。",
    },
    "instead_stalled": {
        "en": "{wanted} took too long to answer (if that goes on, another model is the better choice), so {model} answered.",
        "zh": "{wanted} 响应时间过长（如持续如此，建议改用其他模型），因此由 {model} 回答。",
    },
    "instead_cut": {
        "en": "{wanted} broke off its answer (if that goes on, the owner should check the network), so {model} answered.",
        "zh": "{wanted} 在回答中途断开（如持续如此，请机器人所有者检查网络），因此由 {model} 回答。",
    },
    "instead_garbled": {
        "en": "What {wanted} sent is no answer of a model (its base_url may be wrong: the owner should check it in config.yaml),"
        " so {model} answered.",
        "zh": "{wanted} 返回的内容不是模型的回答（base_url 可能有误，请机器人所有者在 config.yaml 中检查），因此由 {model} 回答。",
    },
    # what keeps a model from answering, and who can mend it (bot.core.faults)
    "with_reference": {"en": "{told} (Reference {reference})", "zh": "{told}（编号 {reference}）"},
    "fault_key_refused": {
        "en": "{provider} does not accept its key: the owner should check it in .env or config.yaml.",
        "zh": "{provider} 不接受当前密钥：请机器人所有者检查 .env 或 config.yaml。",
    },
    "fault_forbidden": {
        "en": "{provider} does not let this key use “{model}”: the owner should look at the account, or choose another model.",
        "zh": "{provider} 不允许当前密钥使用“{model}”：请机器人所有者检查账户或改用其他模型。",
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
    "fault_content_refused": {
        "en": "A content filter at {provider} stopped this. Please try other words.",
        "zh": "{provider} 的内容过滤器拦截了这次请求。请换一种说法。",
    },
    "fault_resting": {
        "en": "“{model}” at {provider} failed just now and is left alone for a while. Please try again {again}.",
        "zh": "{provider} 的“{model}”刚刚出错，暂时不再询问。请{again}再试。",
    },
    "fault_busy": {
        "en": "{provider} has too much to do right now. Please try again {again}.",
        "zh": "{provider} 目前过于繁忙，请{again}再试。",
    },
    "fault_limited": {
        "en": "{provider} takes no more requests of this account until {until}: its limit is reached. Please try again {again}.",
        "zh": "{provider} 在 {until} 之前不再接受此账户的请求：已达到其限额。请{again}再试。",
    },
    "fault_failed": {
        "en": "{provider} has a fault on its side. Please try again {again}.",
        "zh": "{provider} 一方出现故障，请{again}再试。",
    },
    "fault_unreachable": {
        "en": "{provider} cannot be reached: the owner should check the network, and base_url of this provider in config.yaml."
        " Otherwise try again {again}.",
        "zh": "无法连接 {provider}：请机器人所有者检查网络以及 config.yaml 中该提供方的 base_url，或{again}再试。",
    },
    "fault_stalled": {
        "en": "{provider} fell silent before its answer was complete. Please try again {again}.",
        "zh": "{provider} 在回答完成前没有了响应，请{again}再试。",
    },
    "fault_cut": {
        "en": "{provider} broke off before its answer was complete. Please try again {again}.",
        "zh": "{provider} 在回答完成前中断了连接，请{again}再试。",
    },
    "fault_garbled": {
        "en": "{provider} sends something that is not a model's answer: the owner should check base_url of this provider in config.yaml.",
        "zh": "{provider} 返回的内容不是模型的回答：请机器人所有者检查 config.yaml 中该提供方的 base_url。",
    },
    "fault_local": {
        "en": "The model on this machine does not work right now; `bowerbird doctor` says more. Please try again {again}.",
        "zh": "本机上的模型目前无法工作，详情见 `bowerbird doctor`。请{again}再试。",
    },
    "fault_local_busy": {
        "en": "The model on this machine is still being made ready. Please try again in a moment.",
        "zh": "本机上的模型仍在准备中，请稍后再试。",
    },
    # when it can be tried again: {again} above, and what follows a sentence that names something to mend
    "again_soon": {"en": "in a few minutes", "zh": "几分钟后"},
    "again_minute": {"en": "in a minute", "zh": "一分钟后"},
    "again_then": {"en": "then", "zh": "届时"},
    "again_at": {"en": "after {time}", "zh": "在 {time} 之后"},
    "fault_and_others": {"en": "Another model can be asked again {again}.", "zh": "其他模型可{again}再试。"},
    "fault_and_parked": {
        "en": "It is not asked again before {time}; `/model reset` has it asked at once.",
        "zh": "在 {time} 之前不会再询问它；发送 `/model reset` 可立即重试。",
    },
    "fault_and_rested": {
        "en": "It is left alone for some hours; `/model reset` has it asked at once.",
        "zh": "接下来几个小时内不会询问它；发送 `/model reset` 可立即重试。",
    },
    "every_model": {"en": "every model", "zh": "所有模型"},
    "store_damaged": {
        "en": "The store was damaged and has been replaced: {saved} rows were saved, the old file is kept in {aside}."
        " If something is missing, that file is where it may still be found.",
        "zh": "存储文件曾损坏，现已替换：已保存 {saved} 行，旧文件保留在 {aside}。如有缺失，可在该文件中查找。",
    },
    "store_gone": {
        "en": "The store was gone or empty, and a new one was made: what it held can only come from a backup.",
        "zh": "存储文件已丢失或为空，现已新建：原有内容只能从备份恢复。",
    },
    "store_damaged_cut": {
        "en": "Some rows could not be read any more ({tables}).",
        "zh": "部分数据已无法读取（{tables}）。",
    },
    # the live message on platforms that show only text
    "slack_status": {"en": "is thinking…", "zh": "正在思考…"},
    "slack_writing": {"en": "is writing…", "zh": "正在写…"},
    "slack_stop": {"en": " · “@{name} stop” stops it", "zh": " · 发送“@{name} stop”可停止"},
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
    "file_too_large": {
        "en": "I could not send you “{name}” here: it is larger than this platform allows.",
        "zh": "无法在这里发送 “{name}”：文件超过了平台允许的大小。",
    },
    "file_unreadable": {
        "en": "I could not send you “{name}”: the file is gone, or there is nothing in it.",
        "zh": "无法发送 “{name}”：文件已不存在，或内容为空。",
    },
    "file_of_a_kind": {
        "en": "I could not send you “{name}” here: this platform takes no files of that kind.",
        "zh": "无法在这里发送 “{name}”：平台不接受这种类型的文件。",
    },
}
