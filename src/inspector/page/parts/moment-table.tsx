// One request under two policies, number by number.
import type { ReplayMoment } from '../../protocol.ts'
import { holderNames } from '../data/requests.ts'
import { dollars, whole } from '../text/format.ts'
import { marked, Name } from '../text/shown-text.tsx'

type Pair = readonly [ReplayMoment | undefined, ReplayMoment | undefined]

export function MomentTable({
  number,
  names,
  moments,
}: {
  readonly number: number
  readonly names: readonly [string, string]
  readonly moments: Pair
}) {
  const rows: readonly (readonly [string, (moment: ReplayMoment) => string])[] = [
    ...holderNames.map((name, at) => [name, (moment: ReplayMoment) => whole(moment.held[at] ?? 0)] as const),
    ['read', ({ read }) => whole(read)],
    ['written', ({ written }) => whole(written)],
    ['input', ({ input }) => whole(input)],
    ['lost', ({ lost }) => whole(lost)],
    ['cost', ({ dollars: cost }) => dollars(cost)],
  ]
  return (
    <>
      <table class="moments">
        <caption>Request #{number} under both, in tokens</caption>
        <thead>
          <tr>
            <td />
            {names.map((name, at) => (
              <th key={at} scope="col" class="n">
                <Name of={name} />
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map(([name, value]) => (
            <tr key={name}>
              <th scope="row">{name}</th>
              {moments.map((moment, at) => (
                <td key={at} class="n">
                  {moment === undefined ? 'not sent' : value(moment)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
      {moments.map((moment, at) =>
        (moment?.changes ?? []).map(({ layer, why, freed }, index) => (
          <p key={`${at} ${index}`} class="dim">
            <Name of={names[at]!} />: <Name of={layer} /> freed {whole(freed)}, {marked(why)}
          </p>
        )),
      )}
    </>
  )
}
