// The sentences of a text, cut so that nothing that turns one round is left outside of it: "Never do this:" stays with
// the list below it, and "e.g." ends nothing. Where it is not clear that a sentence ended, it goes on.

/** The sentences of a text as it was typed, without what only dresses them up. */
export const sentencesOf = (text: string): readonly string[] => rawSentencesOf(text).map(undressed)

/** The same as they were typed. */
export const rawSentencesOf = (text: string): readonly string[] =>
  blocksOf(text)
    .flatMap((block) => (listLine.test(block) || headLine.test(block) ? [block] : splitAtStops(block)))
    .map((sentence) => sentence.trim())
    .filter((sentence) => undressed(sentence) !== '')

const listLine = /^[ \t]*(?:[-*•–]|\(?\d{1,3}[.)])[ \t]/mu
/** A line that speaks of what follows. */
const headLine = /[:：][ \t]*(?:\n|$)/u

/** Paragraphs; a list, and what stands behind a colon, belong to the paragraph before. */
function blocksOf(text: string): readonly string[] {
  const blocks: string[] = []
  for (const block of text.replaceAll('\r\n', '\n').split(/\n[ \t]*\n/u)) {
    const before = blocks.at(-1)
    const belongs =
      before !== undefined && (listLine.test(block) || listLine.test(before) || headLine.test(before))
    if (belongs) blocks[blocks.length - 1] = `${before}\n${block}`
    else blocks.push(block)
  }
  return blocks
}

/** A stop ends a sentence behind a word; behind an abbreviation, a number or a single letter it does not. */
function splitAtStops(block: string): readonly string[] {
  const sentences: string[] = []
  let from = 0
  for (const stop of block.matchAll(/(?<=[.!?])["')\]*_`]*\s+|(?<=[。！？])/gu)) {
    const end = stop.index + stop[0].length
    const sentence = block.slice(from, end)
    const last = /([^\s]+?)[.]["')\]*_`]*\s*$/u.exec(sentence)?.[1]?.toLowerCase()
    const isOpen =
      last !== undefined && (last.includes('.') || /^[^\p{L}]*\p{L}?$/u.test(last) || abbreviations.has(last))
    if (isOpen) continue
    sentences.push(sentence)
    from = end
  }
  return [...sentences, block.slice(from)]
}
const abbreviations = new Set(
  'approx bzw ca cf dr eg esp etc evtl excl fig ggf ie inc incl max min mr mrs nr num p.ex resp sog st usw vgl vs zb'.split(
    ' ',
  ),
)

/** Emphasis, quotes around the whole and the closing stop say nothing; a question mark does. */
const undressed = (sentence: string): string =>
  sentence
    .replace(/\*\*|__|`/gu, '')
    .replace(/\s+/gu, ' ')
    .trim()
    .replace(/[.!。！]+$/u, '')
    .trim()

const polite =
  /^(?:(?:please|remember|note|from now on|in (?:the )?future|always|ok(?:ay)?|bitte|merke dir|merk dir|immer|ab jetzt|por favor|siempre|s'il te plaît|toujours|請|请)(?: that|, dass| dass)?[,:]? ?)+/iu
const politeEnd = /(?:,? (?:please|thanks|thank you|from now on|in (?:the )?future|bitte|ab jetzt))+$/iu

/** Two sentences with the same bare form say the same: asked for politely or always, and however they begin. */
export function bareSentence(sentence: string): string {
  const bare = sentence.replace(polite, '').replace(politeEnd, '').trim()
  return bare.slice(0, 1).toLowerCase() + bare.slice(1)
}

/** What turns a statement round, limits it or says how much: every language's own words, and every number. */
const turning = new Set(
  (
    'not no never none nothing nobody nowhere neither nor without stop avoid refuse forbid forbidden prevent skip ' +
    'except unless but only until instead besides apart excluding if when otherwise or than before after ' +
    'all any anything anyone every each some most few several both half once twice sometimes often rarely less more ' +
    'one two three four five six seven eight nine ten hundred thousand zero ' +
    'nicht kein keine keinen keinem keiner nie niemals ohne außer nur bis wenn falls oder alle jeder jede jedes statt ' +
    'ne pas jamais sans sauf seulement aucun aucune rien tout toute tous si ou ' +
    'nunca sin salvo excepto solo sólo nada ningún ninguna todo todos jamás o ' +
    'não sem exceto apenas nenhum non mai senza tranne solo niet geen nooit zonder behalve alleen ' +
    'nie bez oprócz tylko не нет никогда без кроме только все değil asla hariç yalnızca'
  ).split(' '),
)
const turningSign = /[不没沒無无勿別别非莫未只除禁]|ない|なし|ません|안|못|없|금지|\p{N}/u
/** Verbs and adverbs that turn a sentence round or limit it, in any of their forms. */
const turningStem =
  /^(?:avoid|refrain|abstain|prohibit|forbid|ban(?:s|ned)?$|refus|prevent|stopp|exclud|exclusive|sole(?:ly)?$|mere|keinesfalls|keineswegs|keinerlei|ausschlie(?:ß|ss)|lediglich|bloß$|vermeid|verzicht|unterlass|untersag|verbot|verbiet|weder$|évit|evit|interdi|abst[ie]|uniquement|exclusiv|prohib|proib|viet|esclusiv|unicamente|únic|vermijd|verbod|uitsluitend|запре|нельзя|избег|лишь|исключ)/u

export const isTurning = (word: string): boolean =>
  turning.has(word) || turningSign.test(word) || turningStem.test(word)
