"""What is said about who may talk and where, and to owners unasked."""

from __future__ import annotations

from typing import Final

TEXTS: Final[dict[str, dict[str, str]]] = {
    # what owners hear unasked
    "owner_trouble": {"en": "⚠ I do not work as I should: {trouble}", "zh": "⚠ 我的运行出现问题：{trouble}"},
    "owner_trouble_over": {
        "en": "✓ What I told you of is over: I work as I should.{trouble}",
        "zh": "✓ 之前告知的问题已解决，一切正常。{trouble}",
    },
    "deaf_discord": {
        "en": "On Discord I see only messages that mention me, and direct ones: switch on the Message Content Intent in the"
        " developer portal (Bot) and start me again.",
        "zh": "在 Discord 上我只能看到提到我的消息和私信：请在开发者门户（Bot）中打开 Message Content Intent 并重新启动我。",
    },
    "no_threads_discord": {
        "en": "On Discord I may not open threads in {places}, so I answer in the channel itself: let me Create Public Threads"
        " and Send Messages in Threads there, or set channels.discord.threads to off.",
        "zh": "在 Discord 的 {places} 中我无法创建子区，因此直接在频道里回答：请授予我“创建公共子区”和“在子区中发送消息”的权限，"
        "或将 channels.discord.threads 设为 off。",
    },
    "mute_discord": {
        "en": "On Discord I may not write in {places}, although I am to answer there: let me View Channel, Send Messages and"
        " Send Messages in Threads there.",
        "zh": "在 Discord 的 {places} 中我应当回答却无法发言：请在那里授予我“查看频道”“发送消息”和“在子区中发送消息”的权限。",
    },
    "deaf_telegram": {
        "en": "On Telegram my privacy mode is on: in groups I hear only what is meant for me, although I am to answer"
        " everything there. Send /setprivacy to @BotFather, add me to the groups again, and start me again.",
        "zh": "我在 Telegram 上的隐私模式是打开的：在群组中我只能收到发给我的消息，尽管设置要求我回答所有消息。"
        "请向 @BotFather 发送 /setprivacy，把我重新加入群组，然后重新启动我。",
    },
    "token_slack": {
        "en": "Slack does not accept my {token} ({code}): put the one that api.slack.com/apps shows now into my"
        " configuration and start me again.",
        "zh": "Slack 不接受我的 {token}（{code}）：请把 api.slack.com/apps 现在显示的令牌写入我的配置，然后重新启动我。",
    },
    "app_scope_slack": {
        "en": "On Slack I hear nothing: my app-level token lacks the scope {scope}. Make one that has it under “Basic"
        " Information”, put it into my configuration and start me again.",
        "zh": "我在 Slack 上收不到任何消息：我的应用级令牌缺少权限范围 {scope}。"
        "请在“Basic Information”中生成一个带有它的令牌，写入我的配置，然后重新启动我。",
    },
    "deaf_slack": {
        "en": "On Slack I hear nothing: Socket Mode is switched off. Switch it on under “Socket Mode” at api.slack.com/apps.",
        "zh": "我在 Slack 上收不到任何消息：Socket Mode 已关闭。请在 api.slack.com/apps 的“Socket Mode”中打开它。",
    },
    "scopes_slack": {
        "en": "On Slack my app lacks the scopes {scopes}: add them under “OAuth & Permissions” and install the app again.",
        "zh": "我的 Slack 应用缺少权限范围 {scopes}：请在“OAuth & Permissions”中添加它们，然后重新安装该应用。",
    },
    "events_slack": {
        "en": "On Slack I am not told of what people write: subscribe to the bot events {events} under “Event"
        " Subscriptions” and install the app again.",
        "zh": "我在 Slack 上收不到人们写的消息：请在“Event Subscriptions”中订阅机器人事件 {events}，然后重新安装该应用。",
    },
    "rooms_slack": {
        "en": "On Slack I am no member of {rooms} any more and cannot answer there: invite me again (/invite).",
        "zh": "我在 Slack 上已不是 {rooms} 的成员，无法在那里回答：请重新邀请我（/invite）。",
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
    "group_asks_unnamed": {
        "en": "I was added to the group `{title}` (`{group}`). I say nothing there until you allow it.",
        "zh": "我被加入了群组 `{title}`（`{group}`）。在你允许之前，我不会在那里发言。",
    },
    "group_called": {
        "en": "`{who}` has called me in the group `{title}` (`{group}`). I do not answer there until you allow it.",
        "zh": "`{who}` 在群组 `{title}`（`{group}`）里叫我。在你允许之前，我不会在那里回答。",
    },
    "group_closed": {
        "en": "I may not answer here yet. An owner of mine can allow it with a button in our private chat, or by adding"
        " {group} under channels.{channel}.access.groups in config.yaml.",
        "zh": "我还不能在这里回答。我的所有者可以在与我的私聊中按按钮允许，或在 config.yaml 的 channels.{channel}.access.groups"
        " 中加入 {group}。",
    },
    "group_closed_unasked": {
        "en": "I may not answer here yet. An owner of mine can allow it by adding {group} under"
        " channels.{channel}.access.groups in config.yaml.",
        "zh": "我还不能在这里回答。我的所有者可以在 config.yaml 的 channels.{channel}.access.groups 中加入 {group} 来允许。",
    },
    "button_allow": {"en": "Answer there", "zh": "允许在那里回答"},
    "group_allowed": {"en": "I answer there now.", "zh": "我现在会在那里回答。"},
    "group_known": {"en": "I answer there already.", "zh": "我已经在那里回答了。"},
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
}
