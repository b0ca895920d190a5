"""What the terminal says by itself."""

from __future__ import annotations

from typing import Final

TEXTS: Final[dict[str, dict[str, str]]] = {
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
    "terminal_file": {"en": "file: {name} ({size}), at {path}", "zh": "文件：{name}（{size}），位于 {path}"},
    "terminal_file_gone": {"en": "file: {name}, no longer here", "zh": "文件：{name}，已不在此处"},
}
