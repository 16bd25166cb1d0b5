// Pictures of a transcript: only what really is one by its first bytes, only so large, and only from memory of the page.
// Never an SVG, which is a document that can do things.
import { useEffect, useState } from 'preact/hooks'
import { mostPictureBytes, pictureBytes, pictureKind } from '../data/pictures.ts'
import { bytes as shownBytes } from '../text/format.ts'

export function Picture({ base64 }: { readonly base64: string }) {
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
