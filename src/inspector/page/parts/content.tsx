// The content of an entry, read when it is looked at: each block as text, calls with their input, pictures as pictures.
import { useEffect, useState } from 'preact/hooks'
import {
  blocksIn,
  type ContentBlock,
  factIn,
  mostPictureBytes,
  pictureBytes,
  pictureKind,
} from '../data/preview.ts'
import type { OpenSession } from '../data/session.ts'
import { bytes as shownBytes } from '../text/format.ts'
import { Name, ShownText } from '../text/shown-text.tsx'

type Loaded =
  | { readonly fact: Readonly<Record<string, unknown>> | null; readonly line: string }
  | 'missing'
  | null

export function useLine(open: OpenSession, seq: number): Loaded {
  const [loaded, setLoaded] = useState<Loaded>(null)
  useEffect(() => {
    const current = { is: true }
    setLoaded(null)
    void open.readLines(seq, seq).then((lines) => {
      if (!current.is) return
      const line = lines?.lines.find((one) => one.seq === seq)?.line
      setLoaded(line === undefined ? 'missing' : { fact: factIn(line), line })
    })
    return () => void (current.is = false)
  }, [open, seq])
  return loaded
}

/** The blocks of an entry that are asked for; all of them where none is named, the whole fact where it has none. */
export function ContentOf({
  open,
  seq,
  blocks,
}: {
  readonly open: OpenSession
  readonly seq: number
  readonly blocks?: readonly number[] | undefined
}) {
  const loaded = useLine(open, seq)
  if (loaded === null) return <p class="waiting">Loading…</p>
  if (loaded === 'missing') return <p class="problem">Entry {seq} could not be read.</p>
  const { fact, line } = loaded
  const all = fact === null ? [] : blocksIn(fact)
  if (all.length === 0)
    return <ShownText text={fact === null ? line : JSON.stringify(fact, null, 2)} language="json" />
  const wanted = blocks === undefined || blocks.length === 0 ? all : blocks.flatMap((at) => all[at] ?? [])
  return (
    <>
      {wanted.map((block, at) => (
        <Block key={at} block={block} />
      ))}
    </>
  )
}

export function Block({ block }: { readonly block: ContentBlock }) {
  if (block.picture !== null) return <Picture base64={block.picture} />
  return (
    <div class={`block b-${/^[a-z_]+$/.test(block.type) ? block.type : 'other'}`}>
      {block.type !== 'text' && (
        <p class="block-kind">
          <Name of={block.name === null ? block.type : `${block.type} ${block.name}`} />
        </p>
      )}
      <ShownText text={block.text} language={block.input === null ? undefined : 'json'} />
    </div>
  )
}

// Pictures of a transcript: only what really is one by its first bytes, only so large, and only from memory of the page.
// Never an SVG, which is a document that can do things.
function Picture({ base64 }: { readonly base64: string }) {
  const [made, setMade] = useState<{ readonly url: string; readonly words: string } | null>(null)
  const [why, setWhy] = useState('')
  useEffect(() => {
    const data = pictureBytes(base64)
    const kind = data === null ? null : pictureKind(data)
    if (data === null || kind === null) {
      setWhy(
        base64.length > mostPictureBytes
          ? `a picture of ${shownBytes(base64.length)}, more than is shown here`
          : 'called a picture, but its bytes are none that is shown here',
      )
      return
    }
    const url = URL.createObjectURL(new Blob([data], { type: kind }))
    setMade({ url, words: `${kind}, ${shownBytes(data.length)}` })
    return () => URL.revokeObjectURL(url)
  }, [base64])
  if (made === null) return <p class="dim">{why}</p>
  return (
    <figure>
      <img src={made.url} alt={`picture from the transcript, ${made.words}`} />
      <figcaption class="dim">{made.words}</figcaption>
    </figure>
  )
}
