// `pal context --count`: the request as its provider counts it, asked over the network.
import { modelIn } from '../../preset/reaching.ts'
import type { Spoken } from '../../wires/wire.ts'
import { whole } from '../terminal/tables.ts'
import type { Workplace } from '../workplace/workplace.ts'

export type ProviderCount = { readonly tokens: number } | { readonly why: string }

/** Tokens of a request as its provider counts them, or why it could not be asked. */
export async function countByProvider(
  { access, settings }: Pick<Workplace, 'access' | 'settings'>,
  { wire, provider, model }: Spoken,
  body: string,
): Promise<ProviderCount> {
  if (access === null) return { why: 'no key was found; pal doctor says where one is looked for' }
  const asked = { wire: wire.name, provider, model, body, betas: [], source: 'count' }
  const counted = await modelIn({ model: access, settings })?.count?.(asked, new AbortController().signal)
  if (counted === undefined || counted === null) return { why: `the API of ${model} has no way to ask` }
  return counted.ok ? { tokens: counted.tokens } : { why: counted.failure.message }
}

export const countText = (count: ProviderCount): string =>
  'tokens' in count
    ? `The provider counts ${whole(count.tokens)} tokens for this request.`
    : `The provider was not asked for its count: ${count.why}.`
