// Words that mean a day, week, month or year only to who knows when they were written, a table for each language. What is
// as often something else is left out, or says beside what it does not stand: a date too few is put right by a reader, a
// wrong one is believed. Patterns hold no capturing groups. Pure.

/** Last, this and next. */
type Three = readonly [last: string, now: string, next: string]

export interface DateLanguage {
  /** What tells a word from a part of another: what stands on both sides, before it alone, or only a dictionary. */
  readonly bounds: 'both' | 'left' | 'dictionary'
  /** By how many days from today. */
  readonly days: Readonly<Record<string, number>>
  /** From Sunday on. */
  readonly weekdays: readonly string[]
  /** `near`: the nearest such weekday in that direction; `within`: that day of last, this or next week. */
  readonly counted: 'near' | 'within'
  readonly weekday: Three
  readonly week: Three
  readonly month: Three
  readonly year: Three
  /** How a week is named by its Monday. */
  readonly weekOf: (monday: string) => string
}

const weekdaysOf = (names: string): readonly string[] => names.split(' ')
const spaced = { bounds: 'both', counted: 'near' } as const
const unspaced = { bounds: 'dictionary', counted: 'within' } as const
const not = (words: string): string => `(?<!\\b(?:${words}) )`

const english: DateLanguage = {
  ...spaced,
  days: {
    'the day after tomorrow': 2,
    'the day before yesterday': -2,
    "tomorrow(?![’']s)": 1,
    "yesterday(?![’']s)": -1,
    "(?:tonight|today)(?![’']s)": 0,
  },
  weekdays: weekdaysOf('sunday monday tuesday wednesday thursday friday saturday'),
  // "The last week of the sprint" is counted from the sprint.
  weekday: [`${not('the')}last`, 'this', `${not('the')}next`],
  week: [`${not('the')}last week`, 'this week', `${not('the')}next week`],
  month: [`${not('the')}last month`, 'this month', `${not('the')}next month`],
  year: [`${not('the')}last year`, 'this year', `${not('the')}next year`],
  weekOf: (monday) => `the week of ${monday}`,
}

const last = '(?:letzte|vergangene|vorige)[nrsm]?'
const next = '(?:nächste|kommende)[nrsm]?'
const ofWhat = '(?! (?:des|der|vom|von)\\b)'
const germanWeekdays = 'sonntag montag dienstag mittwoch donnerstag freitag samstag'
const dutchWeekdays = 'zondag maandag dinsdag woensdag donderdag vrijdag zaterdag'
const mornings = `heute gestern auf am guten jeden einen diesen den dem de deze goede elke iedere een in ${germanWeekdays} ${dutchWeekdays}`
/** Tomorrow in German and Dutch, where nothing beside it makes it a morning. */
const morgen = `${not(mornings.replaceAll(' ', '|'))}morgen`
/** With a capital it is a morning, or begins a sentence: nobody knows. */
export const ambiguous: ReadonlySet<string> = new Set(['Morgen', 'MORGEN'])
const german: DateLanguage = {
  ...spaced,
  days: { übermorgen: 2, vorgestern: -2, gestern: -1, '(?<!von )heute': 0, [morgen]: 1 },
  weekdays: weekdaysOf(germanWeekdays),
  weekday: [last, 'diese[nrm]', next],
  week: [`${last} woche${ofWhat}`, 'dieser? woche', `${next} woche${ofWhat}`],
  month: [`${last} monat${ofWhat}`, 'diese[nm] monat', `${next} monat${ofWhat}`],
  year: [`${last} jahr${ofWhat}`, 'diese[sm] jahr', `${next} jahr${ofWhat}`],
  weekOf: (monday) => `Woche vom ${monday}`,
}

const dutch: DateLanguage = {
  ...spaced,
  days: { overmorgen: 2, eergisteren: -2, gisteren: -1, 'vandaag(?! de dag)': 0 },
  weekdays: weekdaysOf(dutchWeekdays),
  weekday: ['(?:afgelopen|vorige)', 'deze', '(?:volgende|komende)'],
  week: [`${not('de')}vorige week`, 'deze week', `${not('de')}volgende week`],
  month: [`${not('de')}vorige maand`, 'deze maand', `${not('de')}volgende maand`],
  year: [`${not('het')}vorig jaar`, 'dit jaar', `${not('het')}volgend jaar`],
  weekOf: (monday) => `week van ${monday}`,
}

const french: DateLanguage = {
  ...spaced,
  days: {
    'après-demain': 2,
    'avant-hier': -2,
    demain: 1,
    // Alone it is the German word for a place.
    '(?:(?<=depuis )hier|hier(?= (?:matin|soir|midi|après-midi)\\b))': -1,
    "aujourd['’]hui": 0,
  },
  weekdays: weekdaysOf('dimanche lundi mardi mercredi jeudi vendredi samedi'),
  weekday: ['{weekday} dernier', 'ce {weekday}', '{weekday} prochain'],
  week: ['semaine (?:dernière|passée)', 'cette semaine', 'semaine prochaine'],
  month: ['(?:le )?mois (?:dernier|passé)', 'ce mois-ci', '(?:le )?mois prochain'],
  year: [
    "(?:l['’])?(?:année (?:dernière|passée)|an (?:dernier|passé))",
    'cette année',
    "(?:l['’])?(?:année prochaine|an prochain)",
  ],
  weekOf: (monday) => `semaine du ${monday}`,
}

const spanish: DateLanguage = {
  ...spaced,
  days: {
    'pasado mañana': 2,
    '(?:anteayer|antes de ayer)': -2,
    // With an article before it, the morning.
    [`${not('la|las|una|esta|esa|cada|media|toda|un|el')}mañana`]: 1,
    ayer: -1,
    'hoy(?! (?:en )?día)': 0,
  },
  weekdays: weekdaysOf('domingo lunes martes miércoles jueves viernes sábado'),
  weekday: [
    '(?:{weekday} pasado|pasado {weekday})',
    'este {weekday}',
    '(?:próximo {weekday}|{weekday} (?:que viene|próximo))',
  ],
  week: ['semana pasada', 'esta semana', '(?:próxima semana|semana (?:que viene|próxima))'],
  month: ['(?:el )?mes pasado', 'este mes', '(?:el )?(?:próximo mes|mes (?:que viene|próximo))'],
  year: ['(?:el )?año pasado', 'este año', '(?:el )?(?:próximo año|año (?:que viene|próximo))'],
  weekOf: (monday) => `semana de ${monday}`,
}

const portuguese: DateLanguage = {
  ...spaced,
  days: { 'depois de amanhã': 2, anteontem: -2, amanhã: 1, ontem: -1, 'hoje(?! em dia)': 0 },
  // "Segunda passada" is a second pass as well, so working days are told by their second half.
  weekdays: weekdaysOf('domingo segunda-feira terça-feira quarta-feira quinta-feira sexta-feira sábado'),
  weekday: ['{weekday} passad[oa]', 'est[ea] {weekday}', '(?:próxim[oa] {weekday}|{weekday} que vem)'],
  week: ['semana passada', 'n?esta semana', '(?:próxima semana|semana que vem)'],
  month: ['mês passado', 'n?este mês', '(?:próximo mês|mês que vem)'],
  year: ['ano passado', 'n?este ano', '(?:próximo ano|ano que vem)'],
  weekOf: (monday) => `semana de ${monday}`,
}

const italian: DateLanguage = {
  ...spaced,
  days: { dopodomani: 2, "(?:l['’]altro ieri|ieri l['’]altro)": -2, domani: 1, ieri: -1, oggi: 0 },
  weekdays: weekdaysOf('domenica lunedì martedì mercoledì giovedì venerdì sabato'),
  weekday: [
    '(?:{weekday} scors[oa]|scors[oa] {weekday})',
    'quest[oa] {weekday}',
    '(?:{weekday} prossim[oa]|prossim[oa] {weekday})',
  ],
  week: [
    '(?:scorsa settimana|settimana scorsa)',
    'questa settimana',
    '(?:prossima settimana|settimana prossima)',
  ],
  month: ['(?:scorso mese|mese scorso)', 'questo mese', '(?:prossimo mese|mese prossimo)'],
  year: [
    "(?:scorso anno|(?:l['’])?anno scorso)",
    "quest['’]anno",
    "(?:prossimo anno|(?:l['’])?anno prossimo)",
  ],
  weekOf: (monday) => `settimana del ${monday}`,
}

const polish: DateLanguage = {
  ...spaced,
  days: { pojutrze: 2, przedwczoraj: -2, '(?<!dobro )jutro': 1, wczoraj: -1, '(?:dzisiaj|dziś)': 0 },
  weekdays: weekdaysOf('niedzielę poniedziałek wtorek środę czwartek piątek sobotę'),
  weekday: ['w (?:zeszł|ubiegł)[yą]', 'w (?:ten|tę)', 'w (?:przyszł|następn)[yą]'],
  week: ['w (?:zeszłym|ubiegłym) tygodniu', 'w tym tygodniu', 'w przyszłym tygodniu'],
  month: ['w (?:zeszłym|ubiegłym) miesiącu', 'w tym miesiącu', 'w przyszłym miesiącu'],
  year: ['w (?:zeszłym|ubiegłym) roku', 'w tym roku', 'w przyszłym roku'],
  weekOf: (monday) => `w tygodniu od ${monday}`,
}

const russian: DateLanguage = {
  ...spaced,
  days: { послезавтра: 2, позавчера: -2, завтра: 1, вчера: -1, сегодня: 0 },
  weekdays: weekdaysOf('воскресенье понедельник вторник среду четверг пятницу субботу'),
  weekday: ['в прошл(?:ый|ую|ое)', 'в эт(?:от|у|о)', 'в следующ(?:ий|ую|ее)'],
  week: ['на прошлой неделе', 'на этой неделе', 'на следующей неделе'],
  month: ['в прошлом месяце', 'в этом месяце', 'в следующем месяце'],
  year: ['в прошлом году', 'в этом году', 'в следующем году'],
  weekOf: (monday) => `на неделе с ${monday}`,
}

const turkish: DateLanguage = {
  ...spaced,
  days: { 'öbür gün': 2, 'evvelsi gün': -2, yarın: 1, dün: -1, bugün: 0 },
  // "Pazar" alone is a market too.
  weekdays: ['pazar günü', ...weekdaysOf('pazartesi salı çarşamba perşembe cuma cumartesi')],
  weekday: ['geçen', 'bu', '(?:gelecek|önümüzdeki)'],
  week: ['geçen hafta', 'bu hafta', '(?:gelecek|önümüzdeki) hafta'],
  month: ['geçen ay', 'bu ay', '(?:gelecek|önümüzdeki) ay'],
  year: ['geçen (?:yıl|sene)', 'bu (?:yıl|sene)', '(?:gelecek|önümüzdeki) (?:yıl|sene)'],
  weekOf: (monday) => `${monday} haftası`,
}

const hanWeek = '(?:周|週|个?星期|個?星期|个?礼拜|個?禮拜)'
const chinese: DateLanguage = {
  ...unspaced,
  days: {
    '大[后後]天': 3,
    '[后後]天(?![性的])': 2,
    前天: -2,
    '明[天日]': 1,
    '昨[天日]': -1,
    '[今本]日|今天': 0,
  },
  weekdays: ['[日天]', '一', '二', '三', '四', '五', '六'],
  weekday: [`上${hanWeek}`, `[这這本]${hanWeek}`, `下${hanWeek}`],
  week: [`上${hanWeek}(?!末)`, `[这這本]${hanWeek}(?!末)`, `下${hanWeek}(?!末)`],
  month: ['上[个個]?月', '(?:[这這][个個]|本)月', '下[个個]?月'],
  year: ['去年', '今年(?!度)', '明年'],
  weekOf: (monday) => `${monday}那一周`,
}

const japanese: DateLanguage = {
  ...unspaced,
  days: { 明後日: 2, 一昨日: -2 },
  weekdays: weekdaysOf('日曜日? 月曜日? 火曜日? 水曜日? 木曜日? 金曜日? 土曜日?'),
  weekday: ['先週の?', '今週の?', '来週の?'],
  week: ['先週(?!末)', '今週(?!末)', '来週(?!末)'],
  month: ['先月', '今月', '来月'],
  year: ['昨年(?!度)', '今年(?!度)', '来年(?!度)'],
  weekOf: (monday) => `${monday}の週`,
}

const particles =
  '(?=(?:은|는|이|가|을|를|의|에|에는|에서|도|만|까지|부터|보다|로|밤|아침|저녁|새벽|오전|오후|이다|입니다)?(?![가-힣]))'
const korean: DateLanguage = {
  bounds: 'left',
  counted: 'within',
  days: {
    [`모레${particles}`]: 2,
    [`그저께${particles}`]: -2,
    [`내일${particles}`]: 1,
    [`어제${particles}`]: -1,
    [`오늘${particles}`]: 0,
  },
  weekdays: weekdaysOf('일요일 월요일 화요일 수요일 목요일 금요일 토요일').map((name) => name + particles),
  weekday: ['지난 ?주', '이번 ?주', '다음 ?주'],
  week: [`지난 ?주${particles}`, `이번 ?주${particles}`, `다음 ?주${particles}`],
  month: [`지난 ?달${particles}`, `이번 ?달${particles}`, `다음 ?달${particles}`],
  year: [`작년${particles}`, `올해${particles}`, `내년${particles}`],
  weekOf: (monday) => `${monday} 주`,
}

export const dateLanguages: readonly DateLanguage[] = [
  english,
  german,
  dutch,
  french,
  spanish,
  portuguese,
  italian,
  polish,
  russian,
  turkish,
  chinese,
  japanese,
  korean,
]
