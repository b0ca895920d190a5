"""Texts by script, of the kinds that prompts have, for what counts their tokens."""

from __future__ import annotations

from pathlib import Path
from typing import Final

_HOUSE: Final = Path(__file__).parents[2]

SPOKEN: Final = {
    "english": "Could you have a look at the minutes of last Tuesday's meeting and tell me who promised to call the plumber? "
    "I remember that we spoke about the leaking tap in the upstairs bathroom, but I can't find the name anywhere. If nobody "
    "did, please draft a short, friendly message to the landlord. It shouldn't sound like a complaint, only like a reminder.",
    "german": "Könntest du bitte nachsehen, wann die Müllabfuhr in der nächsten Woche kommt, und mich am Abend vorher daran "
    "erinnern? Außerdem brauche ich eine Übersicht über die Ausgaben der letzten drei Monate, aufgeschlüsselt nach "
    "Lebensmitteln, Versicherungen und Fahrtkosten. Alle Menschen sind frei und gleich an Würde und Rechten geboren.",
    "french": "Tous les êtres humains naissent libres et égaux en dignité et en droits. Ils sont doués de raison et de "
    "conscience et doivent agir les uns envers les autres dans un esprit de fraternité. Peux-tu me rappeler demain matin "
    "d'appeler le garage, et vérifier s'il y a encore des billets pour le concert de samedi à l'opéra ?",
    "spanish": "Todos los seres humanos nacen libres e iguales en dignidad y derechos y, dotados como están de razón y "
    "conciencia, deben comportarse fraternalmente los unos con los otros. ¿Puedes decirme qué tiempo hará mañana en la "
    "costa y si merece la pena salir con la bicicleta, o es mejor que nos quedemos en casa?",
    "chinese": "麻烦你帮我看一下上周二会议的记录，看看是谁答应给水管工打电话的。我记得我们谈到了楼上浴室漏水的水龙头，但是到处都找不到"
    "那个人的名字。如果没有人联系过，请帮我写一条简短友好的消息给房东，不要听起来像抱怨，只是提醒一下。人人生而自由，在尊严和权利上一律平等。"
    "他们赋有理性和良心，并应以兄弟关系的精神相对待。另外，明天早上九点提醒我给汽车修理厂打电话，顺便查一下周六音乐会还有没有票。",
    "traditional": "請幫我查一下明天從臺北到高雄的高鐵時刻，最好是上午出發、中午以前抵達的班次。如果票價有早鳥優惠，也請一併告訴我。"
    "人人生而自由，在尊嚴和權利上一律平等。他們賦有理性和良心，並應以兄弟關係的精神相對待。",
    "japanese": "すべての人間は、生まれながらにして自由であり、かつ、尊厳と権利とについて平等である。人間は、理性と良心とを授けられており、"
    "互いに同胞の精神をもって行動しなければならない。明日の朝九時に、車の修理工場へ電話することを思い出させてください。",
    "korean": "모든 인간은 태어날 때부터 자유로우며 그 존엄과 권리에 있어 동등하다. 인간은 천부적으로 이성과 양심을 부여받았으며 서로 "
    "형제애의 정신으로 행동하여야 한다. 내일 아침 아홉 시에 자동차 정비소에 전화하라고 알려 주세요.",
    "russian": "Все люди рождаются свободными и равными в своём достоинстве и правах. Они наделены разумом и совестью и должны "
    "поступать в отношении друг друга в духе братства. Напомни мне, пожалуйста, завтра утром позвонить в мастерскую и "
    "проверь, остались ли ещё билеты на субботний концерт.",
    "greek": "Όλοι οι άνθρωποι γεννιούνται ελεύθεροι και ίσοι στην αξιοπρέπεια και τα δικαιώματα. Είναι προικισμένοι με λογική "
    "και συνείδηση, και οφείλουν να συμπεριφέρονται μεταξύ τους με πνεύμα αδελφοσύνης.",
    "arabic": "يولد جميع الناس أحرارًا متساوين في الكرامة والحقوق. وقد وهبوا عقلًا وضميرًا وعليهم أن يعامل بعضهم بعضًا بروح الإخاء. "
    "ذكرني من فضلك غدًا صباحًا بالاتصال بورشة السيارات.",
    "hebrew": "כל בני האדם נולדו בני חורין ושווים בערכם ובזכויותיהם. כולם חוננו בתבונה ובמצפון, לפיכך חובה עליהם לנהוג איש ברעהו "
    "ברוח של אחווה.",
    "hindi": "सभी मनुष्यों को गौरव और अधिकारों के मामले में जन्मजात स्वतन्त्रता और समानता प्राप्त है। उन्हें बुद्धि और अन्तरात्मा की देन प्राप्त है और "
    "परस्पर उन्हें भाईचारे के भाव से बर्ताव करना चाहिए।",
    "thai": "มนุษย์ทั้งหลายเกิดมามีอิสระและเสมอภาคกันในเกียรติศักดิ์และสิทธิ ต่างมีเหตุผลและมโนธรรม และควรปฏิบัติต่อกันด้วยเจตนารมณ์แห่งภราดรภาพ",
    "emoji": "Great 🎉🎉 see you tomorrow 😀👍🏽 bring the 🎂 and the 🐶, ok? ❤️ 谢谢你 😂😂😂 明天见 🙏",
}
"""Everyday wishes, and the first article of the Universal Declaration of Human Rights."""


def table() -> str:
    lines = (f"2026-0{n % 9 + 1}-1{n % 10},{n * 7919 % 10_007},{n * 31 % 97}.{n % 10}5,EUR" for n in range(40))
    return "date,number,amount,currency\n" + "\n".join(lines)


def log() -> str:
    return "\n".join(
        f"2026-11-30T18:{n:02}:07.{n * 37 % 1000:03}Z INFO [worker-{n % 4}] GET /api/v1/items/{n * 7919:x} 200 {n * 3}ms"
        for n in range(30)
    )


def objects() -> str:
    items = (f'{{"id": {n}, "name": "item-{n}", "tags": ["a", "b"], "price": {n}.5, "ok": true}}' for n in range(30))
    return "[" + ",\n ".join(items) + "]"


def page() -> str:
    rows = "".join(f'<tr class="row"><td>{n}</td><td><a href="/p/{n}">Page {n}</a></td></tr>\n' for n in range(30))
    return f"<!doctype html><html><head><title>Pages</title></head><body><table>\n{rows}</table></body></html>"


def texts() -> dict[str, str]:
    """By name. Those of the house are the length of a page."""
    house = {
        "readme": (_HOUSE / "README.md").read_text(encoding="utf-8")[:6000],
        "soul": (_HOUSE / "SOUL.md").read_text(encoding="utf-8"),
        "code": (_HOUSE / "bot/brain/progress.py").read_text(encoding="utf-8")[:4000],
        "script": (_HOUSE / "channels/web/static/page.js").read_text(encoding="utf-8")[:4000]
        if (_HOUSE / "channels/web/static/page.js").exists()
        else "",
        "config": (_HOUSE / "config.yaml").read_text(encoding="utf-8"),
    }
    made = {"table": table(), "log": log(), "objects": objects(), "page": page()}
    return {name: text for name, text in {**SPOKEN, **house, **made}.items() if text}
