// The policies a session can be replayed under.
import { kindOf, policies } from '../../lab/policies/list.ts'
import type { PolicyList } from '../protocol.ts'

export const policyNotes = (): PolicyList['policies'] =>
  policies.map((policy) => ({ name: policy.name, kind: kindOf(policy), about: policy.about }))
