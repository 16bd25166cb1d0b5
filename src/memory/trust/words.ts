// The words of a sentence: those that speak of something, and signs of those that limit it. Scripts without blanks are read by the
// longest entries of the lexicon, others by phrases and stems. Pure.

export type Token = { readonly kind: 'word'; readonly says: string } | { readonly kind: 'limit' }

export const cjk = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}ー々]/u
const piece =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}ー々]+|[\p{Script=Latin}\p{M}\p{N}](?:[\p{Script=Latin}\p{M}\p{N}_@/+#'’.:-]*[\p{Script=Latin}\p{M}\p{N}+#'’])?|[^\s\p{P}\p{S}]+|[,;:.!?…，。；：！？、()（）—–]/gu

export function tokensOf(sentence: string): readonly Token[] {
  const text = sentence
    .normalize('NFKC')
    .replace(/(?<=\p{L})n['’]t\b/gu, ' not')
    .replace(/\b(l|d|n|qu|j|c|s|m|t)['’](?=\p{L})/giu, '$1 ')
    .replace(/['’]s\b/gu, ' ')
  const tokens: Token[] = []
  const run: string[] = []
  const flush = (): void => {
    tokens.push(...spacedTokens(run))
    run.length = 0
  }
  for (const found of text.matchAll(piece)) {
    const [one] = found
    if (cjk.test(one)) {
      flush()
      tokens.push(...unspacedTokens(one))
    } else if (/^[^\p{P}\p{S}]/u.test(one)) run.push(one.toLowerCase())
    else flush()
  }
  flush()
  return tokens
}

const mostWords = 4

function spacedTokens(run: readonly string[]): readonly Token[] {
  const tokens: Token[] = []
  for (let at = 0; at < run.length;) {
    let took = 0
    for (let size = Math.min(mostWords, run.length - at); size > 0 && took === 0; size--) {
      const phrase = run.slice(at, at + size).join(' ')
      const limits = lexicon.exact.get(phrase) ?? (size === 1 ? stemLimits(phrase) : undefined)
      if (limits === undefined) continue
      took = size
      if (limits) tokens.push({ kind: 'limit' })
    }
    if (took === 0) tokens.push({ kind: 'word', says: numberOf(run[at]!) })
    at += Math.max(1, took)
  }
  return tokens
}

function stemLimits(word: string): boolean | undefined {
  for (let size = word.length; size >= leastEntry; size--) {
    const limits = lexicon.stems.get(word.slice(0, size))
    if (limits !== undefined && word.length - size <= mostEnding) return limits
  }
  return undefined
}
const leastEntry = 2
const mostEnding = 6

const numberWords: readonly string[] = [
  'zero null zéro cero 零 〇',
  'one eins uno 一',
  'two zwei deux dos 二 两 兩',
  'three drei trois tres 三',
  'four vier quatre cuatro 四',
  'five fünf cinq cinco 五',
  'six sechs seis 六',
  'seven sieben sept siete 七',
  'eight acht huit ocho 八',
  'nine neun neuf nueve 九',
  'ten zehn dix diez 十',
]
const numbers: ReadonlyMap<string, string> = new Map(
  numberWords.flatMap((list, n) => list.split(' ').map((word) => [word, String(n)] as const)),
)
const numberOf = (word: string): string => numbers.get(word) ?? word

/** Scripts without blanks: the longest entries first, then character by character. */
function unspacedTokens(run: string): readonly Token[] {
  const tokens: Token[] = []
  for (let at = 0; at < run.length;) {
    let took = 0
    for (let size = Math.min(lexicon.longest, run.length - at); size > 0 && took === 0; size--) {
      const limits = lexicon.unspaced.get(run.slice(at, at + size))
      if (limits === undefined) continue
      took = size
      if (limits) tokens.push({ kind: 'limit' })
    }
    if (took === 0) {
      const word = /^(?:[\p{Script=Katakana}ー]+|.)/u.exec(run.slice(at))![0]
      tokens.push({ kind: 'word', says: numberOf(word) })
      took = word.length
    }
    at += took
  }
  return tokens
}

// Words that only hold a sentence together, and words that limit, doubt or attribute what is said, in six languages. A star
// stands for any ending. Every other word speaks of something.

/** They tell nothing by which a sentence could be found again. */
const plain = `
    a an the this that these those it its they them their he she his her there here i me my mine we us our ours
    you your is are be been being am was were has have had do does did done will would shall should must need
    needs needed can may want wants wanted like likes liked prefer* preference* expect* wish* please just really
    also too very quite simply user users project repo repository codebase remember note keep mind know ok okay
    hi hello hey thanks thank so as to of use uses used using usage make makes made making go goes going get
    gets take takes handle handles work works working always everytime "every time" "each time" whenever
    "from now on" "in future" "in the future" "going forward" generally thing things stuff way ways matter kind
    sort lot let lets rule rules reason why how apply applies applied what which who whose where if when while
    case cases per said say says tell told mention* stated confirm* supposed agreed decid* decision* policy
    practice convention* general ones own actually basically honestly btw "by the way" definitely certainly sure
    currently now right well such about performed carried "set up" "has to" "have to" "ought to" "needs to"
    requires require required ensure* "make sure" "be sure" team der die das den dem des ein eine einen einem
    einer eines dies dieser diese dieses diesem diesen es er sie ihr ihm ihnen sein seine ich mich mir mein
    meine meinen meinem wir uns unser unsere unserem unseren du dich dir man ist sind war waren wird werden
    wurde hat haben habe hatte soll sollen sollte sollten muss müssen musst kann können darf dürfen möchte
    möchten wollen bevorzug* bitte immer jedesmal "jedes mal" "ab jetzt" "ab sofort" künftig zukünftig
    grundsätzlich auch zu zum zur dass daß wie als nutzer benutzer anwender nutzerin projekt merk* merke beachte
    verwend* benutz* nutz* nimm nehmen gebrauch* machen mach gemacht wenn falls sobald wo wer welche welcher
    welches hier da dort halt mal ja doch eben eigentlich einfach übrigens sag* gesagt wünsch* wunsch erwart*
    gilt gelten regel grund legt wert gern gerne lieber stets jeweils werd' le la les un une de d' l' ce cet
    cette ces ça c' il elle ils elles on je j' m' moi mon ma mes nous notre nos tu te t' toi ton ta tes vous
    votre vos se s' est sont être était ont avoir ai avons doit doivent devons dois faut peut peuvent pouvoir
    veux veut voulons souhait* préfèr* préfér* aime aimerait utilisateur utilisatrice projet dépôt utilis*
    emploi* employ* fais fait faire faites toujours systématiquement désormais dorénavant merci svp
    "s'il te plaît" "s'il vous plaît" "à chaque fois" "chaque fois" "à partir de maintenant" à au aux que qu'
    qui quoi où quand lorsque si comme aussi très retiens souviens-toi règle raison dit demandé équipe ne n'
    bien là donc el los las lo una unos unas del al este esta estos estas esto eso ese esa su sus mi mis nuestro
    nuestra nuestros nuestras tus yo él ella ellos son está están ser estar fue era ha han hay hemos debe deben
    debemos tiene tienen tenemos puede pueden quiere quiero queremos prefiere prefiero preferimos desea usuario
    usuaria proyecto repositorio usa usar usen usamos utiliza utilizar utilice emplea emplear haz hacer hace
    hagan siempre "por favor" "cada vez" "a partir de ahora" "de ahora en adelante" quien cuando como también
    muy recuerda nota regla razón motivo dijo pidió equipo gusta l d n qu j c s m t yet still est-ce lui brauch*
    braucht gibt geben gib noch sonst trägt donner donne lieu dar dé en 一定 由 外 请 請 麻烦 记住 記住 注意 总是 始终 一律 一直 以后 今后
    从现在起 每次 都 就 要 会 应该 应当 应 需要 需 必须 得 想 想要 希望 偏好 喜欢 更喜欢 倾向于 用户 使用者 我们 我 你 他 她 它 们 这个 这 那 该 项目 仓库 团队 的 地 了 着 是 有
    在 里 中 上 使用 采用 用 进行 做 时候 时 如果 的话 当 把 将 对 也 还 吧 呢 啊 规则 原因 说 说过 要求 一下 一个 个 以 为 被 让 给 去 来 请用 其 很 所 常に いつも 必ず 毎回
    今後 これから してください ください してほしい ほしい 欲しい たい したい 好む 好み 好き ユーザー 私 僕 俺 我々 私たち チーム プロジェクト リポジトリ この その あの これ それ こと もの とき
    時 場合 際 使う 使って 使い 使用する 使わ 用いる 利用する 利用 行う 行って 行い する して した します しました です ます だ である ある いる ため よう 方 方針 ルール 理由 覚えて べき
    必要 言った 言って お願い 是非 ぜひ not no never none nothing nobody neither nor don't cannot won't avoid* refrain*
    abstain* stop* skip* ban* forbid* prevent* "hands off" "stay away from" "steer clear of" refus* reject*
    omit* nicht kein keine keinen keinem keiner keines nie niemals nichts weder vermeid* verzicht* unterlass*
    keinesfalls "auf keinen fall" überspring* "finger weg von" verbiet* pas jamais aucun aucune rien ni évit*
    evit* abstenir abstiens interdi* non nunca jamás nada ningún ninguna ninguno tampoco abstener* prohib*
    rechaz* 不 不要 不得 不能 不可 不可以 不许 不准 不再 不用 不使用 不应 不应该 不应当 别 别再 勿 请勿 没 没有 无 無 未 禁止 严禁 避免 切勿 拒绝 不是 非 绝不 决不 从不 不会 不想
    不希望 不喜欢 forbidden prohibited "not allowed" "not permitted" "off limits" off-limits banned disallowed
    unwanted taboo "out of the question" verboten untersagt tabu unerwünscht "nicht erlaubt" "nicht gestattet"
    proscrit proscrite prohibido prohibida prohibidos vetado ない なかった ません ませんでした ないで しない しません しないで ぬ ず せず 避け 避ける
    避けて やめ やめて やめる なし 使わない 使わず いけない いけません ダメ だめ 控え 控える and und et y e 和 与 及 并 并且 と また そして "instead of"
    "rather than" statt anstatt anstelle "au lieu de" "au lieu d" "plutôt que" "en vez de" "en lugar de" 而不是 而非
    ではなく じゃなく でなく でなくて some sometimes often usually mostly most many several few occasionally partly rarely
    typically manche manchmal oft meist* meistens einige viele selten teilweise gelegentlich üblicherweise
    certains certaines parfois souvent quelques plupart généralement rarement algunos algunas "a veces" menudo
    muchos varias varios normalmente mayoría raramente 有些 有时 某些 部分 经常 通常 大多 一些 偶尔 很少 一部 たまに 時々 ときどき 多く よく いくつか
    大抵 ほとんど 普段 all every everything everyone each any anything anyone anywhere entire whole both alle alles
    allen aller jede jeder jedes jeden jedem sämtliche gesamt* ganze* beide tous toutes tout toute chaque
    n'importe todos todas todo toda cada cualquier cualquiera ambos 所有 全部 任何 每个 每 一切 全 すべて 全て あらゆる どんな 各 毎 いかなる
    "at least" minimum min least "more than" above over "or more" exceeding exceeds mindestens "mehr als"
    "au moins" "plus de" "plus d'" "al menos" "por lo menos" mínimo "más de" 至少 最少 以上 超过 不少于 少なくとも 最低 超え 超える
    "not more" "nicht mehr als" "pas plus" "at most" maximum max "less than" under below "up to" "no more than"
    "not more than" within shorter fewer höchstens maximal "weniger als" unter "bis zu" "au plus" "moins de"
    "como máximo" "menos de" máximo "a lo sumo" 最多 至多 以下 以内 不超过 少于 最大 未満 多くても before "prior to" "ahead of" bevor
    vor vorher avant "avant de" "antes de" "antes de que" antes 前 之前 以前 前に after afterwards once following nach
    nachdem après "après avoir" "une fois" después tras "después de" "una vez" 后 之后 後 後に てから たら without ohne
    sans sin なしで なしに ないまま せずに ずに 未经 没经过 不经 then first firstly danach dann zuerst erst puis ensuite d'abord luego
    primero 先 然后 再 まず 先に それから because due weil wegen nämlich car parce puisque porque "ya que" debido pues 因为 由于
    毕竟 因 ので だから なぜなら or oder ou o u 或 或者 还是 または もしくは あるいは in at for with by into onto inside during from through
    against between via im ins auf bei für mit durch von aus beim gegen zwischen während über dans sur pour avec
    chez par lors entre pendant con para por sobre durante desde 从 到 往 向 于 で に へ を が は の から も
`

/** Where the neighbour of a sentence has one, the sentence is not quoted without it. */
const limiting = `
    "nowhere else" "sonst nirgends" "nirgendwo sonst" "nulle part ailleurs" only solely exclusively nur
    ausschließlich lediglich seulement uniquement exclusivement "ne que" solo sólo solamente únicamente
    exclusivamente 才 只 只有 仅 仅限 只能 只在 だけ のみ しか 限り 限る except excepting excluding "other than" "apart from"
    "aside from" besides unless exception* außer ausgenommen ausnahme* "es sei denn" sauf excepté hormis salvo
    excepto "a menos que" excepción* 除了 除 除非 例外 以外 除外 を除く 除き 除いて "not decided" "not yet" "noch nicht" unklar
    maybe perhaps might possibly probably could considering consider thinking wonder* guess unsure "not sure"
    option idea experiment* tentative* "what if" suppose* likely vielleicht eventuell evtl möglicherweise
    wahrscheinlich könnte* überleg* vermutlich erwäg* "nicht sicher" idee peut-être éventuellement probablement
    pourrait pourrions envisag* hésite* idée quizás quizá "tal vez" posiblemente probablemente podría podríamos
    consider* pensando duda* 也许 可能 或许 大概 考虑 想过 不确定 似乎 也行 多分 たぶん かもしれ 検討 おそらく 考え中 迷って 思案 可能性 until till bis
    jusqu* hasta 直到 为止 まで までは "no longer" "not anymore" anymore "any more" formerly previously "used to"
    "nicht mehr" früher ehemals "ne plus" autrefois anteriormente "ya no" antiguamente 曾经 过去 かつて 以前は もう
    "schlägt vor" "schlug vor" thinks thought believes claims suggests suggested recommends recommended proposes
    proposed argues argued insists insisted according reportedly heard sagt meint findet behauptet schlägt
    empfiehlt empfahl laut zufolge pense suggère suggéré propose proposé affirme selon recommande dice cree
    piensa sugiere sugirió propone propuso recomienda según afirma opina 认为 觉得 建议 据说 说是 听说 声称 提议 と言 言う 曰く によると
    によれば 提案 勧め らしい そうだ と思
`

interface FunctionWords {
  /** Whole words and phrases, by their words: whether they limit. */
  readonly exact: ReadonlyMap<string, boolean>
  /** Beginnings of words. */
  readonly stems: ReadonlyMap<string, boolean>
  /** Entries of scripts without blanks. */
  readonly unspaced: ReadonlyMap<string, boolean>
  readonly longest: number
}

const isUnspaced = (entry: string): boolean =>
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]/u.test(entry)

/** Entries of a list; what stands in quotes is one. */
const entriesOf = (list: string): readonly string[] =>
  [...list.matchAll(/"([^"]+)"|(\S+)/gu)].map(([, phrase, word]) => (phrase ?? word ?? '').toLowerCase())

function build(): FunctionWords {
  const exact = new Map<string, boolean>()
  const stems = new Map<string, boolean>()
  const unspaced = new Map<string, boolean>()
  const note = (entry: string, limits: boolean): void => {
    const isStem = entry.endsWith('*')
    const bare = isStem ? entry.slice(0, -1) : entry
    const into = isUnspaced(bare) ? unspaced : isStem ? stems : exact
    if (!into.has(bare)) into.set(bare, limits)
    // "move" and "moving".
    if (isStem && /\p{Script=Latin}{3}e$/u.test(bare) && !into.has(bare.slice(0, -1)))
      into.set(bare.slice(0, -1), limits)
  }
  for (const entry of entriesOf(plain)) note(entry, false)
  for (const entry of entriesOf(limiting)) note(entry, true)
  const longest = Math.max(...[...unspaced.keys()].map((entry) => entry.length))
  return { exact, stems, unspaced, longest }
}

export const lexicon: FunctionWords = build()
