// Words that say little about a subject, in two degrees. Stop words hold a sentence together and are left out. Everyday
// words (today, feel, really) are kept for little: a small store cannot tell by itself that they are common, since they
// are rare in it and would count as telling. Data, written by hand.

export const stopWords: ReadonlySet<string> = new Set(
  (
    'a an the this that these those there here and or but nor so yet if then than as at by for from in into of off on onto out over ' +
    'to up with without within about above after again against all also am any are aren be because been before being below between both ' +
    'can cannot could couldn did didn do does doesn doing don down during each either else ever every few further had hadn has hasn have ' +
    'haven having he her hers herself him himself his how i ii im ive id ill isn it its itself just let ll me more most much must my ' +
    'myself neither no not now oh okay ok one only other our ours ourselves own per please rather really re s same shall she should ' +
    'shouldn since some such t their theirs them themselves they through too under until upon us ve very was wasn we well were weren ' +
    'what when where whether which while who whom whose why will won would wouldn yes yeah you your yours yourself d m hey hi hello ' +
    'anything something everything thing things going got get like know think want way'
  ).split(' '),
)

/** Characters that hold a sentence together; a pair that spans one says little. */
export const stopCharacters =
  /[的了是在我你他她它们吗呢吧啊呀哦嗯嘛这那就都也还又很太和与及或有没不会要能可以把被让给对从到着过得地个么什怎样哪谁啦哈嘿噢唉はがをにでとものへやかねよな]/u

export const everydayText = `
today yesterday tomorrow tonight now time day week month year moment morning afternoon evening ago later soon already still always never often sometimes usually once again
feel feeling think know want need try use make take give find tell say see look come go keep let put ask seem become happen start stop begin end show hear mean believe guess hope wish wonder remember
good great nice best better bad big small little large long short new old first last next different same right wrong sure possible able special particular whole full real true ready
really quite super extremely pretty especially particularly actually probably maybe perhaps almost finally simply totally definitely certainly even though however instead
lot bit kind sort part place person people man woman everyone someone anyone nobody name number point case fact idea reason way thing stuff
two three four five second many much several another enough
talk speak wow haha thank thanks please sorry
今天 昨天 明天 今晚 刚才 现在 时候 时间 最近 以前 以后 之前 之后 早上 晚上 每天 有时 经常 总是 已经 马上 开始 一直 后来 当时
知道 觉得 感觉 感到 认为 希望 想要 需要 应该 可能 或许 也许 当然 一定 真的 真是 其实 特别 非常 超级 十分 有点 一点 一些 一下 一次
因为 所以 但是 可是 不过 而且 如果 虽然 然后 或者 只是 只有 自己 大家 别人 东西 事情 地方 样子 办法
谢谢 好像 告诉 看到 听到 起来 出来 过来 回来 进去 如何
`
