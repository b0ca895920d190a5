from __future__ import annotations

from typing import Final

import pytest

from bot.brain.routing.catalogue import PRIVATE, built_in
from bot.brain.routing.privacy import privacy_of

OWN: Final = (
    "calc my bmi 82 kg 178 cm",
    "I make 61k, what's my take home in Scotland after pension 6%",
    "remind me to take my lisinopril at 9pm",
    "remind me my mum's chemo is thursday 10:15",
    "can u reword this email to HR about my maternity leave",
    "help me write a letter to my landlord, he's keeping our deposit",
    "split our mortgage 1450 between me and Jess 60/40",
    "what did i say the alarm code for the house was",
    "translate my discharge letter into English",
    "plan a repayment schedule for the 8,400 on my two credit cards",
    "my therapist said i should journal, give me a weekly plan",
    "i weigh 94 kilos now down from 101 how many percent is that",
    "whats the link for my son's school portal login",
    "summarise my divorce settlement pls, 14 pages attached",
    "my dads biopsy came back, what does gleason 7 mean",
    "is 145/95 bad? took it this morning",
    "my period is 9 days late lol should i worry",
    "i've been crying every night since the breakup",
    "my psychiatrist upped sertraline to 100mg is it normal to feel sick",
    "how long can i stay in germany if my visa runs out 4 march, passport is indian",
    "we live at 22 Alder Close, Reading RG4 7TB, how long to Heathrow",
    "when's my wife's birthday again",
    "i owe dave 240 and he owes my sister 60, settle it",
    "draft a reply to the bank about my overdraft",
    "can I deduct my home office, I earned 38,200 freelance",
    "need a cover letter, i was fired in March for absence",
    "add 30 min to my calendar block for the IVF appointment",
    "how much insulin for 60g carbs, ratio 1:10",
    "book me time to call the lawyer about custody",
    "my net worth is 210k should i buy a flat",
    "remember that my blood type is O neg",
    "what was my marathon weight last year",
    "my lease: rent goes up 9%, is that legal, whole text below",
    "i think im pregnant",
    "体重82公斤身高178，算下BMI",
    "税前两万三，五险一金扣完到手多少",
    "房贷一百二十万，30年，等额本息每月多少",
    "提醒我晚上九点吃降压药",
    "帮我写封邮件跟房东要回押金",
    "我爸的病理报告出来了，帮我看看什么意思",
    "我妈下周二化疗，提醒我请假",
    "帮我把离婚协议总结一下",
    "我家门禁密码多少来着",
    "我住在朝阳区望京西园四区412号楼",
    "老婆生日想去个好点的餐厅，帮我安排",
    "孩子发烧39度，能吃布洛芬吗",
    "我月薪1万2，每月能存多少",
    "这个月信用卡欠了八千多，怎么还",
    "公积金账户里有9万，够不够首付",
    "我被裁了，补偿金N+1怎么算，月薪一万五",
    "最近老是失眠心慌，吃了舍曲林没用",
    "跟男朋友分手了好难受",
    "我的身份证快到期了，要带什么",
    "帮我翻译一下体检报告里的这几项",
    "女儿学校的家长会是几号",
    "我老婆怀孕12周了，行程怎么安排比较好",
    "例假推迟十天了",
    "房租合同帮我看看有没有坑，押一付三，月租5200",
    "我支付宝里还有多少钱",
    "上次我跟你说的我血压是多少",
    "给我前任写一条消息，不要太尖锐",
    "我護照號碼幫我記一下",
    "我媽的藥一天吃幾次",
    "薪水四萬八扣完勞健保剩多少",
    "我跟老公吵架了",
    "帮我看看我的个税要补多少",
    "我弟欠我三万块不还，怎么要",
    "我的快递地址改成静安区万航渡路888弄5号楼1202",
)
"""Of somebody's own health, money, family and home, whatever they are wanted for."""
LOOKALIKES: Final = (
    "what does bmi stand for",
    "average salary of a nurse in Manchester",
    "how do password managers work",
    "is ibuprofen an antibiotic",
    "explain how mortgages work",
    "write a python function to validate a password field",
    "best hospitals in Singapore",
    "who pays tax on inheritance in France",
    "remind me at 5 to call the plumber",
    "remind me to buy milk",
    "plan a 3 day trip to Lisbon for two",
    'translate "where is the bank" to Spanish',
    "how tall is the eiffel tower in feet",
    "i love this song",
    "can you help me with my essay on the french revolution",
    "my code throws a KeyError on line 12",
    "my docker container keeps restarting",
    "what's the weather in my city tomorrow, leeds",
    "write a poem about a mother and her son",
    "write a short story about a lonely lighthouse keeper",
    "draft a tweet for our product launch",
    "my laptop is slow what can I do",
    "i need a recipe for banana bread",
    "how many calories in an egg",
    "what is the capital gains tax rate in the UK",
    "who is the president of my favourite club, Boca",
    "my favourite colour is green",
    "make my paragraph shorter: The meeting was moved to Tuesday.",
    "did we agree on blue or green for the logo",
    "what did you recommend for the podcast app",
    "split 84 between 5 people",
    "20% tip on 45",
    "convert 5 lbs to kg",
    "regex for a phone number",
    "how to reset root password in mysql",
    "git says my branch is behind, what now",
    "explain child process vs thread",
    "thanks mate",
    "i'm bored",
    "lol my bad",
    "summarise this report on global health spending",
    "summarise the article on bank failures",
    "what are the symptoms of flu",
    "set an alarm for 6",
    "train plan for a first marathon 16 weeks",
    "what does our mission statement template look like usually",
    "my team needs a stand-up agenda",
    "check my translation: guten Morgen",
    "write a job ad for a family doctor",
    "is the bank open on sunday",
    "how do I kill a process in linux",
    "which family does the tomato belong to",
    "parent selector in css",
    "what time is it in my hometown Osaka",
    "my train is late, any news on the Jubilee line",
    "what is the age of the universe",
    "account manager vs sales manager difference",
    "how old is the king of norway",
    "什么是BMI",
    "北京护士平均工资多少",
    "密码管理器安全吗",
    "布洛芬是抗生素吗",
    "房贷和公积金贷款有什么区别",
    "写个函数校验密码强度",
    "五点提醒我给水管工打电话",
    "提醒我买牛奶",
    "帮我计划一下去里斯本三天的行程",
    "我的代码第12行报KeyError",
    "我的电脑好卡怎么办",
    "帮我写一篇关于母爱的作文",
    "写一个孤独的灯塔守护人的故事",
    "我喜欢这首歌",
    "我想学做红烧肉",
    "84块5个人平分",
    "5磅等于多少公斤",
    "正则匹配手机号怎么写",
    "mysql忘了root密码怎么重置",
    "流感有哪些症状",
    "六点叫我起床",
    "我们上次logo定了蓝色还是绿色",
    "你推荐我的播客软件叫什么",
    "总结一下这篇讲医疗支出的报告",
    "银行周日开门吗",
    "我无聊",
    "谢谢你",
    "我家乡大阪现在几点",
    "今天沪深300怎么样",
    "帮我把这段话改短一点：会议改到周二。",
    "个税起征点是多少",
    "子进程和线程的区别",
    "全家便利店几点关门",
    "病毒和细菌的区别",
    "我们公司的新品上线写条朋友圈",
    "挪威国王多大年纪",
    "药食同源是什么意思",
    "翻译：请问银行在哪里",
    "我的git分支落后了怎么办",
    "保险公司的英文",
)
"""The same words where nobody speaks of what is theirs."""


@pytest.mark.parametrize("text", OWN)
def test_what_is_ones_own_is_personal_whatever_is_wanted(text: str) -> None:
    assert privacy_of(text) == "personal"


@pytest.mark.parametrize("text", LOOKALIKES)
def test_what_only_sounds_like_it_is_public(text: str) -> None:
    assert privacy_of(text) == "public"


@pytest.mark.parametrize(
    "text",
    [
        "my password is hunter2",
        "密码：hunter2",
        "use sk-ant-api03-abcdefghijklmnopqrstu please",
        "AKIAIOSFODNN7EXAMPLE",
        "ghp_abcdefghijklmnopqrstuvwxyz012345",
        "-----BEGIN RSA PRIVATE KEY-----",
        "the bot's token is 123456789:AAHdqTcvCH1vGWJxfSeofSAs0K5PALDsaww",
        "pay with 4111 1111 1111 1111",
        "4111111111111111",
        "passport number C01X00T47",
        "her ssn: 078-05-1120",
        "DE89 3704 0044 0532 0130 00",
        "身份证 11010519491231002X",
        "wifi pw at home is Blue-Horse-77",
        "door code for the flat is 4471#",
        "pin for the savings card 8812",
        "my username for the tax site is ann_k and the password hunter22",
        "银行卡密码改成了829134，帮我记着",
        "家里wifi密码是 qwer8899",
        "门锁密码换成 770315 了",
        "我的护照号是 E12345678",
    ],
)
def test_what_must_not_be_known_by_others_is_secret(text: str) -> None:
    assert privacy_of(text) == "secret"


@pytest.mark.parametrize(
    "text",
    [
        "my blood pressure is high",
        "I was diagnosed last week with diabetes",
        "I owe two thousand to the bank",
        "our little daughter cannot sleep",
        "我老婆要离婚",
        "我的血压有点高",
        "我每个月工资一万",
        "write to ann.b@example.org",
        "call me: +49 170 1234567",
        "我的手机 13812345678",
    ],
)
def test_what_is_about_somebody_is_personal(text: str) -> None:
    assert privacy_of(text) == "personal"


@pytest.mark.parametrize(
    "text",
    [
        "What is blood pressure?",
        "how do password managers work",
        "order 1234 5678 9012 3456 has arrived",
        "pi is 3.14159265358979323846",
        "in 2024 there were 1300000000000 of them",
        "the file my_script.py fails in line 12",
        "血压是什么",
        "110105194912310021",
        "DE00 3704 0044 0532 0130 00",
        "0" * 16,
        "x@y",
    ],
)
def test_what_only_looks_like_it_is_public(text: str) -> None:
    assert privacy_of(text) == "public"


def test_names_of_files_tell() -> None:
    assert privacy_of("what does it say", ["payslip-march.pdf"]) == "personal"
    assert privacy_of("看看这个", ["体检报告.pdf"]) == "personal"
    assert privacy_of("what does it say", ["novel.pdf"]) == "public"


def test_somebody_and_what_is_private_count_only_within_one_clause_however_long() -> None:
    assert privacy_of("I like tea. Diabetes is a disease.") == "public"
    assert privacy_of("I have had tea and diabetes for years") == "personal"
    assert privacy_of("x " * 5_000 + "my wife is ill " + "x " * 5_000) == "personal"


def test_of_the_examples_that_ask_for_something_else_few_are_taken_for_private() -> None:
    """Most of those are: a loan, a letter to the landlord. Figures of the examples, 2,601 in all."""
    share = {
        slot.name: sum(privacy_of(text) != "public" for text in slot.examples) / len(slot.examples)
        for slot in built_in()
    }
    assert share["personal_info"] > 0.55
    assert max(share[name] for name in ("knowledge", "web_search", "small_talk", "code")) < 0.03, share
    assert max(part for name, part in share.items() if name not in PRIVATE) < 0.1, share
