import { describe, expect, it } from 'vitest'
import { readRequest, type ForeignRequest } from '../fit/layouts.ts'
import { Senders } from './senders.ts'

const none = new URLSearchParams()
const device = 'd'.repeat(64)
const account = '0b6b1c1e-0000-4000-8000-000000000001'
const asked = (user: unknown): ForeignRequest =>
  readRequest('anthropic', Buffer.from(JSON.stringify({ messages: [], metadata: { user_id: user } })))!
const named = (more: object = {}): ForeignRequest =>
  asked(JSON.stringify({ device_id: device, account_uuid: account, session_id: 's', ...more }))
const unnamed = readRequest('anthropic', Buffer.from('{"messages":[]}'))!
const bearer = (token: string) => (name: string) => (name === 'authorization' ? `Bearer ${token}` : undefined)
const first = bearer('sk-ant-oat01-first')
const second = bearer('sk-ant-oat01-second')

describe('who sends, where the token is renewed', () => {
  const here = () => new Senders('salt', true)

  it('[GW37] a renewed token of the same account and installation is the same sender', () => {
    const senders = here()
    const before = senders.tenantOf(first, none, named())
    expect(senders.tenantOf(second, none, named({ session_id: 'other' }))).toBe(before)
    expect(here().tenantOf(second, none, named())).toBe(before)
    expect(senders.tenantOf(second, none, asked(`user_${device}_account_${account}_session_s`))).toBe(before)
    // What only counts tokens does not say who sends it.
    expect(senders.tenantOf(second, none, unnamed)).toBe(before)
  })

  it('[GW37] two people are never one: another account, another installation, a claim without a token that is renewed', () => {
    const senders = here()
    const own = senders.tenantOf(first, none, named())
    const others = [
      senders.tenantOf(second, none, named({ account_uuid: account.replace('1', '2') })),
      senders.tenantOf(second, none, named({ device_id: 'e'.repeat(64) })),
      senders.tenantOf(bearer('sk-ant-oat01-third'), none, named({ device_id: '' })),
      senders.tenantOf(bearer('sk-ant-oat01-third'), none, named({ account_uuid: undefined })),
      senders.tenantOf(bearer('a-token-of-somebody-else'), none, named()),
      senders.tenantOf((name) => (name === 'x-api-key' ? 'k' : undefined), none, named()),
      senders.tenantOf((name) => (name === 'x-api-key' ? 'k' : first(name)), none, named()),
      senders.tenantOf(first, new URLSearchParams({ key: 'k' }), named()),
      new Senders('another salt', true).tenantOf(first, none, named()),
    ]
    expect(others).not.toContain(own)
    // One token with two names: whoever does not say which is neither.
    const shared = bearer('sk-ant-oat01-shared')
    const names = ['1', '2'].map((end) =>
      senders.tenantOf(shared, none, named({ device_id: 'f'.repeat(63) + end })),
    )
    expect(names).not.toContain(senders.tenantOf(shared, none, unnamed))
  })

  it('[GW37] beyond this machine the credential alone counts', () => {
    const senders = new Senders('salt', false)
    expect(senders.tenantOf(second, none, named())).not.toBe(senders.tenantOf(first, none, named()))
  })
})
