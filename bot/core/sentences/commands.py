"""What is said to commands and presses, and what menus, settings and links say."""

from __future__ import annotations

from typing import Final

TEXTS: Final[dict[str, dict[str, str]]] = {
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
    "asks_because_outside": {
        "en": "This tool {effect}, and this conversation holds text from outside ({source}), which may be why it is wanted.",
        "zh": "此工具会{effect}，而本次对话含有外部内容（{source}），调用可能由其引起。",
    },
    "outside_quote": {"en": "a quoted or forwarded message", "zh": "引用或转发的消息"},
    "outside_group": {"en": "what others wrote in this group", "zh": "本群其他人的消息"},
    "outside_client": {"en": "what the API client brought along", "zh": "API 客户端带来的内容"},
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
        "- /skills: what I know how to do, and /skill NAME\n"
        "- /status: how I am doing\n- /model: which models answer, and pick one\n- /why: how the last answer came about\n"
        "- /usage: what today cost\n- /settings: language, time zone and more\n"
        "- /link: you are the same person on another platform\n- /help: this text",
        "zh": "直接发消息即可。命令：\n\n- /new：开始新的对话\n- /stop：停止当前任务\n"
        "- /retry：重新回答你的上一条消息\n- /skills：我会做的事，以及 /skill 名称\n- /status：运行状态\n"
        "- /model：查看或选定模型\n- /why：上一条回答的由来\n- /usage：今日用量\n- /settings：语言、时区等\n"
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
    "menu_model": {"en": "Which models answer, and pick one", "zh": "查看或选定模型"},
    "menu_why": {"en": "Why the last answer came about as it did", "zh": "查看上一条回答的由来"},
    "menu_skills": {"en": "What I know how to do", "zh": "查看我会做的事"},
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
        "\n\n`/link {code}` (on Slack: `/bowerbird link {code}`)\n\nThen confirm it here.",
        "zh": "要让我知道你在其他平台上是同一个人，请在 {minutes} 分钟内在那里发给我："
        "\n\n`/link {code}`（Slack 上：`/bowerbird link {code}`）\n\n然后在这里确认。",
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
        "en": "Now send me `/link {code}` (on Slack: `/bowerbird link {code}`) once more where you began ({channel}), and we"
        " are done.",
        "zh": "现在请在你开始的地方（{channel}）再发送一次 `/link {code}`（Slack 上：`/bowerbird link {code}`），即可完成。",
    },
    "link_other_side": {
        "en": "Send `/link {code}` on the other platform first (on Slack: `/bowerbird link {code}`).",
        "zh": "请先在另一个平台发送 `/link {code}`（Slack 上：`/bowerbird link {code}`）。",
    },
    "link_done": {"en": "Done: you and {who} are one person to me.", "zh": "完成：我会把你和 {who} 视为同一个人。"},
    "link_unknown": {
        "en": "I do not know this code, or it is over. Begin again with /link.",
        "zh": "代码未知或已过期。请用 /link 重新开始。",
    },
    "link_locked": {"en": "Too many wrong codes: try again in an hour.", "zh": "错误代码过多：请一小时后再试。"},
    "link_off": {"en": "This account is on its own again.", "zh": "此账号已取消关联。"},
    "link_none": {"en": "This account is not linked with another.", "zh": "此账号没有关联其他账号。"},
    "button_retry": {"en": "Try again", "zh": "再试一次"},
    "retry_begun": {"en": "Trying once more.", "zh": "正在再试一次。"},
    "retry_done": {"en": "This has been tried again already.", "zh": "已经再试过一次了。"},
    "retry_over": {
        "en": "You have asked something newer since; /retry answers that once more.",
        "zh": "此后已有更新的提问；发送 /retry 可让我再回答一次最新的提问。",
    },
    "retry_not_yours": {
        "en": "Only the person who asked, or an owner, can try this again.",
        "zh": "只有提问者或所有者可以再试一次。",
    },
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
    "summary_failed": {
        "en": "The beginning of this chat could not be summed up, several times in a row: of what is far back I only look up"
        " what your message asks for. It is tried again as the chat goes on.",
        "zh": "本聊天较早的内容多次未能归纳：很久以前说过的，我只会按您的消息去查找。聊天继续后会再次尝试。",
    },
    "model_reads": {"en": "reads {tokens} tokens", "zh": "可读取 {tokens} 个 token"},
    "model_reads_unknown": {"en": "{tokens} tokens are assumed", "zh": "按 {tokens} 个 token 计"},
    "command_model_demo": {
        "en": "A small demo model on this machine is answering. For a better one: {how}",
        "zh": "目前由本机上的小型演示模型回答。想要更好的模型：{how}",
    },
    "model_how": {
        "en": "`/model NAME` picks one for this chat, `/model auto` undoes that.",
        "zh": "`/model 名称` 为本聊天选定模型，`/model auto` 取消选定。",
    },
    "model_picked": {
        "en": "Picked for this chat: {model}. No other answers in its place.",
        "zh": "本聊天已选定：{model}。不会由其他模型代替。",
    },
    "model_auto": {"en": "The model is chosen for each message again.", "zh": "已恢复为逐条消息自动选择模型。"},
    "model_unknown": {
        "en": "I have no model `{name}` that can be asked now. `/model` lists those there are.",
        "zh": "没有可用的模型 `{name}`。发送 `/model` 查看现有模型。",
    },
    "model_reset": {"en": "Asked again from now on: {models}.", "zh": "即刻起重新启用：{models}。"},
    "model_reset_none": {"en": "No model was being left alone.", "zh": "没有被暂停使用的模型。"},
    "skills_head": {"en": "What I know how to do:", "zh": "我会做的事："},
    "skills_how": {
        "en": "They join by themselves where they fit; `/skill NAME` calls one, `/skill NAME your question` at once.",
        "zh": "合适时它们会自动启用；`/skill 名称` 可手动启用，`/skill 名称 你的问题` 立即使用。",
    },
    "skills_more": {
        "en": "- and {count} more; `/skills WORD` narrows them",
        "zh": "- 还有 {count} 个；可用 `/skills 词语` 筛选",
    },
    "skills_none": {"en": "I have no skills here.", "zh": "这里没有可用的技能。"},
    "skills_refused": {"en": "Not read:", "zh": "未能读取："},
    "skill_unknown": {
        "en": "I have no skill `{name}`. `/skills` lists those there are.",
        "zh": "没有名为 `{name}` 的技能。发送 `/skills` 查看。",
    },
    "skill_lacks": {
        "en": "The skill {name} needs {missing}, which this machine lacks.",
        "zh": "技能 {name} 需要：{missing}，而本机没有。",
    },
    "skill_needs": {"en": "needs {missing}", "zh": "需要 {missing}"},
    "skill_joined": {"en": "{name} is with us from now on: {about}", "zh": "已启用 {name}：{about}"},
    "why_nothing": {
        "en": "There is no answer in this chat yet that I could explain.",
        "zh": "本聊天中还没有可以解释的回答。",
    },
    "why_models": {
        "en": "Models, in this order: {models} (decided by: {rule})",
        "zh": "模型（按顺序）：{models}（依据：{rule}）",
    },
    "why_private": {
        "en": "Private: only models on this machine or network",
        "zh": "私密：仅使用本机或本地网络中的模型",
    },
    "why_read": {
        "en": "Read as: {intent} (near: {scores}); complexity {complexity}; privacy {privacy}",
        "zh": "理解为：{intent}（相近：{scores}）；复杂度 {complexity}；隐私 {privacy}",
    },
    "why_steps": {
        "en": "Model calls: {steps} ({because}), by {models}, {tokens} tokens",
        "zh": "模型调用：{steps} 次（{because}），由 {models} 完成，共 {tokens} 个令牌",
    },
    "why_end": {"en": "Ended: {reason}", "zh": "结束方式：{reason}"},
    "command_usage": {"en": "Your usage today:", "zh": "你今天的用量："},
    "command_usage_none": {"en": "You have used no model today.", "zh": "你今天还没有使用过模型。"},
    "command_usage_budget": {
        "en": "\nOf today's budget you have spent ${mine} of ${mine_limit}, all together ${all} of ${all_limit}.",
        "zh": "\n今天的预算：你已用 ${mine}（共 ${mine_limit}），所有人共用 ${all}（共 ${all_limit}）。",
    },
    "command_usage_unpriced": {"en": "price not known, so not counted", "zh": "价格未知，未计入"},
    "command_usage_line": {
        "en": "- {model}: {calls} calls, {read} tokens read, {written} written, {usd}",
        "zh": "- {model}：{calls} 次调用，读入 {read} 令牌，写出 {written} 令牌，{usd}",
    },
}
