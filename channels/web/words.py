"""Every sentence this channel says over HTTP, in English and Chinese."""

from __future__ import annotations

from typing import Final

from bot.core.errors import StoreBusy, StoreDamaged, StoreError, StoreFull, StoreReadOnly

WORDS: Final[dict[str, dict[str, str]]] = {
    "token_needed": {
        "en": "This needs the access token: send it as “Authorization: Bearer …”, or sign in on the page.",
        "zh": "此处需要访问令牌：请以 “Authorization: Bearer …” 发送，或在页面上登录。",
    },
    "token_wrong": {"en": "This access token is not the right one.", "zh": "访问令牌不正确。"},
    "token_unset": {
        "en": "Without an access token this page opens only on the machine it runs on, at its loopback address. "
        "Set channels.web.token (BOWERBIRD_WEB_TOKEN) to reach it from elsewhere or through a proxy.",
        "zh": "未设置访问令牌时，此页面只能在其所在的机器上通过回环地址打开。"
        "如需从别处或经代理访问，请设置 channels.web.token（BOWERBIRD_WEB_TOKEN）。",
    },
    "other_origin": {
        "en": "This request comes from another site. Only the page itself may do this, or a client with the access token.",
        "zh": "此请求来自其他网站。只有本页面或持有访问令牌的客户端才可以这样做。",
    },
    "not_json": {
        "en": "Send JSON with “Content-Type: application/json”.",
        "zh": "请以 “Content-Type: application/json” 发送 JSON。",
    },
    "bad_json": {"en": "The body is not a JSON object.", "zh": "请求正文不是 JSON 对象。"},
    "too_large": {"en": "The body is larger than {limit} bytes.", "zh": "请求正文超过 {limit} 字节。"},
    "too_slow": {"en": "The body did not arrive in time.", "zh": "请求正文未能及时到达。"},
    "text_too_long": {
        "en": "The message is longer than {limit} characters. Please send it in pieces.",
        "zh": "消息超过 {limit} 个字符，请分段发送。",
    },
    "words_too_long": {
        "en": "The messages of this request are longer than {limit} characters.",
        "zh": "此请求的消息超过 {limit} 个字符。",
    },
    "text_empty": {"en": "There is no text in this message.", "zh": "这条消息没有文字。"},
    "bad_chat": {
        "en": "“chat” must be 1 to 64 letters, digits, “_” or “-”, and must not begin with “api-”.",
        "zh": "“chat” 必须是 1 到 64 个字母、数字、“_” 或 “-”，且不能以 “api-” 开头。",
    },
    "bad_id": {
        "en": "“id” must be 1 to 128 printable characters without spaces.",
        "zh": "“id” 必须是 1 到 128 个不含空格的可打印字符。",
    },
    "bad_text": {"en": "“text” must be a string.", "zh": "“text” 必须是字符串。"},
    "bad_decision": {
        "en": "“decision” must be one of: once, chat, always, deny.",
        "zh": "“decision” 必须是 once、chat、always、deny 之一。",
    },
    "bad_after": {"en": "“Last-Event-ID” must be a number.", "zh": "“Last-Event-ID” 必须是数字。"},
    "bad_frame": {
        "en": "Send JSON of type “message”, “press” or “stop”.",
        "zh": "请发送类型为 “message”、“press” 或 “stop” 的 JSON。",
    },
    "not_found": {"en": "Nothing answers at this address.", "zh": "该地址没有内容。"},
    "not_allowed": {"en": "This address does not answer to {method}.", "zh": "该地址不支持 {method}。"},
    "not_stored": {
        "en": "Your message could not be stored, so it was not accepted. Please try again.",
        "zh": "消息未能保存，因此没有被接收。请重试。",
    },
    "disk_full": {
        "en": "Your message was not accepted: the disk of the machine I run on is full. Free some space there.",
        "zh": "消息没有被接收：我所在机器的磁盘已满。请释放一些空间。",
    },
    "store_locked": {
        "en": "Your message was not accepted: another program holds my store. Close it, or wait.",
        "zh": "消息没有被接收：其他程序正占用我的存储文件。请关闭该程序或稍候。",
    },
    "store_read_only": {
        "en": "Your message was not accepted: my data folder cannot be written. Give the user I run as the right to.",
        "zh": "消息没有被接收：我的数据文件夹不可写。请授予运行我的用户写入权限。",
    },
    "store_damaged": {
        "en": "Your message was not accepted: my store is damaged. Start me again: I then save what can be saved.",
        "zh": "消息没有被接收：我的存储文件已损坏。请重新启动我，我会尽量挽救数据。",
    },
    "not_ready": {"en": "I am still starting. Please try again in a moment.", "zh": "正在启动，请稍后再试。"},
    "stopping": {
        "en": "I am being stopped. Please send it again once I am back.",
        "zh": "我正在停止，请在我恢复后重新发送。",
    },
    "too_many": {
        "en": "Too many open streams. Close a page and try again.",
        "zh": "打开的连接过多，请关闭一些页面后重试。",
    },
    "broke": {"en": "Something went wrong on my side.", "zh": "我这边出了点问题。"},
    "rewritten": {
        "en": "The answer was written anew after part of it had been sent; please ask again.",
        "zh": "回答在发送途中被重写，请重新提问。",
    },
    "unfinished": {"en": "The answer could not be finished.", "zh": "回答未能完成。"},
    "gone": {"en": "This answer has no reader any more.", "zh": "该回答已无人接收。"},
    "no_file": {"en": "This file is no longer here.", "zh": "该文件已不在此处。"},
    "no_picture": {"en": "There is no picture of this file.", "zh": "该文件没有可显示的图片。"},
    "file_too_large": {
        "en": "“{name}” is too large: a file may have up to {limit} MB.",
        "zh": "“{name}” 太大：单个文件最大 {limit} MB。",
    },
    "files_too_many": {
        "en": "These are too many files: a message may have up to {limit}.",
        "zh": "文件太多：一条消息最多 {limit} 个。",
    },
    "file_empty": {"en": "“{name}” is empty.", "zh": "“{name}” 是空文件。"},
    "file_broken": {
        "en": "The file did not arrive whole. Please send it again.",
        "zh": "文件没有完整到达，请重新发送。",
    },
    "file_unknown": {
        "en": "A file of this message is no longer here: files wait for their message for an hour. Please attach it again.",
        "zh": "这条消息的某个文件已不在此处：文件只为消息保留一小时。请重新添加。",
    },
    "files_busy": {
        "en": "Too many files are on their way at once. Please try again in a moment.",
        "zh": "同时上传的文件太多，请稍后再试。",
    },
    "files_waiting": {
        "en": "Too many files wait for their message. Send or remove some, or try again in an hour.",
        "zh": "等待发送的文件太多。请发送或移除一些，或一小时后再试。",
    },
    "bad_files": {
        "en": "“files” must be a list of ids that “POST /v1/files” gave.",
        "zh": "“files” 必须是由 “POST /v1/files” 返回的 id 列表。",
    },
    "no_form_file": {"en": "There is no file in this form.", "zh": "该表单中没有文件。"},
    "file_disk_full": {
        "en": "The file was not accepted: the disk of the machine I run on is full. Free some space there.",
        "zh": "文件没有被接收：我所在机器的磁盘已满。请释放一些空间。",
    },
    "file_not_stored": {
        "en": "The file was not accepted: my data folder cannot be written. Give the user I run as the right to.",
        "zh": "文件没有被接收：我的数据文件夹不可写。请授予运行我的用户写入权限。",
    },
}


def phrase(key: str, language: str = "en", **values: object) -> str:
    """The sentence ``key`` in ``language`` (``zh…`` is Chinese, anything else English) with ``values`` filled in."""
    return WORDS[key]["zh" if language.lower().startswith("zh") else "en"].format(**values)


def unstored(error: StoreError) -> str:
    """The key of the sentence for a message that was not stored. Whoever the gate lets in is an owner, and told why."""
    match error:
        case StoreFull():
            return "disk_full"
        case StoreBusy():
            return "store_locked"
        case StoreReadOnly():
            return "store_read_only"
        case StoreDamaged():
            return "store_damaged"
    return "not_stored"


def preferred(accept_language: str, wanted: str = "auto") -> str:
    """``wanted`` unless that is ``auto``; else the first of ``en`` and ``zh`` that a browser's header names, or ""."""
    if wanted != "auto":
        return wanted
    for entry in accept_language.split(",")[:20]:
        tag = entry.split(";")[0].strip().lower()[:2]
        if tag in ("en", "zh"):
            return tag
    return ""
