// Who sends, also where their credential is renewed every few hours: a token that is known to be replaced names nobody for
// long. On this machine the account and the installation that such a client names stand for it, both together; what is
// remembered is still found only by whoever sends the very beginning it was decided for. Every other credential, and everybody
// beyond this machine, is known by the credential alone: who cannot be told apart for sure begins anew.
import { isRecord, objectIn } from '../transcript/json.ts'
import { parameter, type ForeignRequest } from '../fit/layouts.ts'
import { credentialOf, tenantOf, type HeaderOf } from './identity.ts'
import { Recent } from './recent.ts'

/** Credentials of which it is remembered who held them. */
const rememberedCredentials = 512

export class Senders {
  readonly #salt: string
  readonly #isHere: boolean
  /** Who held a credential, by its salted hash; null where several did. */
  readonly #holders = new Recent<string | null>(rememberedCredentials)

  /** `isHere`: the gateway serves this machine alone. */
  constructor(salt: string, isHere: boolean) {
    this.#salt = salt
    this.#isHere = isHere
  }

  tenantOf(header: HeaderOf, query: URLSearchParams, request: ForeignRequest): string {
    const own = tenantOf(credentialOf(header, query), this.#salt)
    const isRenewed = this.#isHere && isRenewable(header, query)
    if (!isRenewed) return own
    const named = holderIn(request)
    const known = this.#holders.get(own)
    if (named !== null && known !== null)
      this.#holders.set(own, known === undefined || known === named ? named : null)
    // A request that only counts tokens does not say who sends it; the same token did before.
    const holder = named ?? known ?? null
    return holder === null ? own : tenantOf(`renewed\n${holder}`, this.#salt)
  }
}

const isSubscription = /^Bearer +sk-ant-oat/iu

/** An access token of a subscription at Anthropic, and no other credential with it. Tokens of others do not say that they are renewed. */
const isRenewable = (header: HeaderOf, query: URLSearchParams): boolean =>
  isSubscription.test(header('authorization') ?? '') &&
  ['x-api-key', 'x-goog-api-key', 'api-key'].every((name) => header(name) === undefined) &&
  !query.has('key')

/** Account and installation, as a client of Claude names them; null where either is missing. */
function holderIn(request: ForeignRequest): string | null {
  const metadata = parameter(request, 'metadata')
  const user = isRecord(metadata) ? metadata['user_id'] : undefined
  if (typeof user !== 'string') return null
  const older = /^user_(\w{16,})_account_([\w-]{8,})_session_/u.exec(user)
  const named = older === null ? objectIn(user) : { device_id: older[1], account_uuid: older[2] }
  const [device, account] = [named?.['device_id'], named?.['account_uuid']]
  return isName(device) && isName(account) ? `${account}\n${device}` : null
}
const isName = (value: unknown): value is string => typeof value === 'string' && /^[\w-]{8,256}$/u.test(value)
