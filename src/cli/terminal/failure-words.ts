// A failed turn in the words of a person: who refused, what it said, and where to look. The bare message of a server
// ("model: nope") says none of that; JSON output keeps it as it came.
import type { TurnFailure } from '../../engine/live.ts'
import { safeText } from './safe-text.ts'

const frames: Readonly<Record<string, readonly [before: string, after: string]>> = {
  network: ['the provider cannot be reached', 'Look at the network and the address; pal doctor names it'],
  unauthorized: ['the provider does not accept the key', 'pal doctor names it; pal login keeps another'],
  invalid: ['the provider refuses the request', 'pal doctor names the model and the address in use'],
}

export function failureWords({ code, message }: TurnFailure): string {
  const frame = Object.hasOwn(frames, code) ? frames[code] : undefined
  const said = safeText(message)
  return frame === undefined ? said : `${frame[0]}: ${said.replace(/\.?\s*$/u, '.')} ${frame[1]}`
}
