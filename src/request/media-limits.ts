// Which media a request may not carry: those that alone are too large, then the oldest until what is left is within the
// limits of count, side and bytes. What the model has not answered yet goes last. Pure; the caller replaces them.
import type { MediaLimits } from '../model/models.ts'
import type { ShownMedia } from '../projection/media.ts'
import { defaults } from '../settings/defaults.ts'
import { keptAs, sizeText } from '../transcript/media.ts'

export interface OverLimit {
  readonly media: ShownMedia
  readonly why: string
}

/** `words` is what the request takes without media, in bytes. */
export function overLimits(
  all: readonly ShownMedia[],
  limits: MediaLimits,
  words: number,
): readonly OverLimit[] {
  const gone = new Map<ShownMedia, string>()
  const left = (): readonly ShownMedia[] => all.filter((one) => !gone.has(one))
  for (const one of repeated(all)) gone.set(one, sameAsBefore)
  for (const one of left()) {
    const why = tooLargeAlone(one, limits)
    if (why !== null) gone.set(one, why)
  }
  for (const [one, why] of tooMany(left(), limits)) gone.set(one, why)
  for (const one of tooWide(left(), limits)) gone.set(one, manySides(limits))
  for (const one of tooHeavy(left(), limits.requestBytes - words, words)) gone.set(one, requestFull(limits))
  return [...gone].flatMap(([media, why]) => (media.at === null ? [] : [{ media, why }]))
}

const sameAsBefore = 'the same is shown above and is sent once'

/** Unsent ones that stand in the view already: what was sent keeps its bytes. Small ones are not worth a word. */
function repeated(all: readonly ShownMedia[]): readonly ShownMedia[] {
  const seen = new Set<string>()
  return all.filter(({ block, isUnsent }) => {
    const name = keptAs(block)
    if (name === null) return false
    const isAgain = isUnsent && seen.has(name)
    seen.add(name)
    return isAgain
  })
}

function tooLargeAlone({ info, chars }: ShownMedia, limits: MediaLimits): string | null {
  const { side, imageBytes, count, requestBytes } = limits
  if (info.kind === 'image' && chars > imageBytes)
    return `not sent, images above ${sizeText((imageBytes / 4) * 3)} are refused; make it smaller and show it again`
  if (info.kind === 'image' && Math.max(info.width ?? 0, info.height ?? 0) > side)
    return `not sent, a side above ${side} pixels is refused; make it smaller and show it again`
  if ((info.pages ?? 0) > count) return `not sent, more than ${count} pages are refused; show it in parts`
  return chars > requestBytes ? requestFull(limits) : null
}

/** Images and pages that one counts for. */
const countOf = ({ info }: ShownMedia): number => info.pages ?? 1

function tooMany(all: readonly ShownMedia[], { count }: MediaLimits): Map<ShownMedia, string> {
  const why = `not sent, a request may hold ${count} images and pages`
  return new Map(oldestOver(all, countOf, count).map((one) => [one, why]))
}

/**
 * The oldest to go so that the sum of the others is within a limit. With some to spare, or each new one would cost the
 * cache again; but new ones go only as far as they must.
 */
function oldestOver(
  all: readonly ShownMedia[],
  weigh: (one: ShownMedia) => number,
  limit: number,
): readonly ShownMedia[] {
  let sum = all.reduce((total, one) => total + weigh(one), 0)
  if (sum <= limit) return []
  const gone: ShownMedia[] = []
  for (const one of all) {
    if (sum <= (one.isNew ? limit : limit * defaults.media.keptShare)) break
    if (one.at === null) continue
    sum -= weigh(one)
    gone.push(one)
  }
  return gone
}

const manySides = ({ manyImages, manySide }: MediaLimits): string =>
  `not sent, a side above ${manySide} pixels is refused beside more than ${manyImages} images`

/** Beside many images each must be small: the wide ones go, or the oldest where that costs fewer or spares a new one. */
function tooWide(all: readonly ShownMedia[], limits: MediaLimits): readonly ShownMedia[] {
  const images = all.filter(({ info }) => info.kind === 'image')
  if (images.length <= limits.manyImages) return []
  const wide = images.filter(({ info }) => Math.max(info.width ?? 0, info.height ?? 0) > limits.manySide)
  if (wide.length === 0) return []
  const oldest = oldestOver(images, () => 1, limits.manyImages)
  const costsNew = (gone: readonly ShownMedia[]): number => gone.filter(({ isNew }) => isNew).length
  if (costsNew(wide) !== costsNew(oldest)) return costsNew(wide) < costsNew(oldest) ? wide : oldest
  return wide.length <= oldest.length ? wide : oldest
}

const requestFull = ({ requestBytes }: MediaLimits): string =>
  `not sent, a request of more than ${sizeText(requestBytes)} is refused`

function tooHeavy(all: readonly ShownMedia[], room: number, words: number): readonly ShownMedia[] {
  const sum = all.reduce((total, one) => total + one.chars, 0)
  return sum <= room ? [] : oldestOver(all, ({ chars }) => chars, Math.max(0, room - words * slack))
}
/** Beside each medium and each text stand a few more bytes. */
const slack = 0.02
