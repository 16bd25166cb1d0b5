import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { redactingStream } from './redact-stream.ts'
import { holdsTag, redact } from './redact.ts'
import { corpusFolder } from '../../test/shared-data.ts'
import { growthOf, mostGrowth } from '../../test/until.ts'

// Made here, from letters that mean nothing: no scanner should find a real key in this file, so marks and tails are joined.
const tail = (length: number, letters = 'a7Kx2Qm9Zt4Rw8Ld3Vb6') =>
  letters.repeat(Math.ceil(length / letters.length)).slice(0, length)
const hex = (length: number) => tail(length, '3f9a0c7be1d25846')
const upper = (length: number) => tail(length, 'QK7ZM2XR5TWLD3VB')
const of = (mark: string, rest: string) => mark + rest

const tokens: readonly (readonly [string, string])[] = [
  ['anthropic-key', of('sk-ant-', 'api03-' + tail(80))],
  ['openai-key', of('sk-', tail(48))],
  ['openai-key', of('sk-proj-', tail(60))],
  ['openrouter-key', of('sk-or-v1-', hex(64))],
  ['groq-key', of('gsk_', tail(52))],
  ['xai-key', of('xai-', tail(80))],
  ['perplexity-key', of('pplx-', tail(48))],
  ['replicate-token', of('r8_', tail(37))],
  ['huggingface-token', of('hf_', tail(34))],
  ['langsmith-key', of('lsv2_', `pt_${hex(32)}_${hex(10)}`)],
  ['github-token', of('ghp_', tail(36))],
  ['github-token', of('ghs_', tail(36))],
  ['github-token', of('github_pat_', tail(82))],
  ['gitlab-token', of('glpat-', tail(20))],
  ['bitbucket-token', of('ATBB', tail(32))],
  ['atlassian-token', of('ATATT3', tail(180))],
  ['sourcegraph-token', of('sgp_', hex(40))],
  ['npm-token', of('npm_', tail(36))],
  ['pypi-token', of('pypi-', 'AgEIcHlwaS5vcmc' + tail(60))],
  ['rubygems-key', of('rubygems_', hex(48))],
  ['crates-token', of('cio', tail(32))],
  ['nuget-key', of('oy2', tail(43, 'a7kx2qm9zt'))],
  ['docker-token', of('dckr_pat_', tail(27))],
  ['buildkite-token', of('bkua_', tail(40, 'a7kx2qm9zt'))],
  ['aws-key-id', of('AKIA', upper(16).replaceAll(/[01890]/g, 'A'))],
  ['google-key', of('AIza', tail(35))],
  ['google-oauth', of('ya29.', tail(60))],
  ['google-oauth', of('GOCSPX-', tail(28))],
  ['azure-key', of('AccountKey=', tail(86) + '==')],
  ['digitalocean-token', of('dop_v1_', hex(64))],
  ['heroku-key', of('HRKU-', tail(60))],
  ['fly-token', of('fm2_', tail(90))],
  ['netlify-token', of('nfp_', tail(40))],
  ['supabase-key', of('sbp_', hex(40))],
  ['planetscale-token', of('pscale_tkn_', tail(43))],
  ['databricks-token', of('dapi', hex(32))],
  ['pulumi-token', of('pul-', hex(40))],
  ['doppler-token', of('dp.pt.', tail(43))],
  ['vault-token', of('hvs.', tail(90))],
  ['tailscale-key', of('tskey-', `auth-${tail(12)}-${tail(30)}`)],
  ['slack-token', of('xoxb-', '123456789012-' + tail(24))],
  ['slack-webhook', of('https://hooks.slack.com/', `services/T${upper(8)}/B${upper(8)}/${tail(24)}`)],
  ['stripe-key', of('sk_live_', tail(24))],
  ['webhook-secret', of('whsec_', tail(32))],
  ['square-token', of('sq0atp-', tail(22))],
  ['shopify-token', of('shpat_', hex(32))],
  ['sendgrid-key', of('SG.', `${tail(22)}.${tail(43)}`)],
  ['twilio-key', of('SK', hex(32))],
  ['mailgun-key', of('key-', hex(32))],
  ['brevo-key', of('xkeysib-', `${hex(64)}-${tail(16)}`)],
  ['telegram-token', of('123456789:', 'AA' + tail(33))],
  ['linear-key', of('lin_api_', tail(40))],
  ['notion-token', of('ntn_', tail(46))],
  ['figma-token', of('figd_', tail(40))],
  ['postman-key', of('PMAK-', `${hex(24)}-${hex(34)}`)],
  ['newrelic-key', of('NRAK-', upper(27))],
  ['grafana-token', of('glsa_', `${tail(32)}_${hex(8)}`)],
  ['sentry-token', of('sntrys_', tail(64))],
  ['airtable-token', of('pat', `${tail(14)}.${hex(64)}`)],
  ['age-key', of('AGE-SECRET-KEY-1', upper(58))],
  ['azure-client-secret', of('abc8Q~', tail(34))],
  ['jwt', of('eyJ', `${tail(30)}.eyJ${tail(60)}.${tail(43)}`)],
  ['bearer', of('Authorization: Bearer ', tail(40))],
  ['basic-auth', of('Authorization: Basic ', tail(28))],
  ['url-password', of('postgres://app:', 'hunter2rabbit@db.internal:5432/main')],
  ['password', of('password = ', '"hunter2rabbit"')],
  ['password', of('DB_PASSWORD=', 'hunter2rabbit')],
  ['password', of('{"password":', '"hunter2rabbit"}')],
  ['secret', of('aws_secret_access_key'.replace('_key', '') + '_secret = ', `"${tail(40)}"`)],
  ['key', of('AWS_SECRET_ACCESS_KEY=', tail(40))],
  ['token', of('//registry.example/:_authToken=', tail(36))],
  ['key', of("apiKey: '", tail(32) + "'")],
  [
    'private-key',
    of(
      '-----BEGIN ',
      `OPENSSH PRIVATE KEY-----\n${tail(64)}\n${tail(64)}\n-----END OPENSSH PRIVATE KEY-----`,
    ),
  ],
  ['private-key', of('-----BEGIN ', `PRIVATE KEY-----\\n${tail(64)}\\n-----END PRIVATE KEY-----\\n`)],
]

const longKey = [
  '-----BEGIN',
  `RSA PRIVATE KEY-----\n${`${tail(64)}\n`.repeat(60)}-----END RSA PRIVATE KEY-----`,
].join(' ')

const harmless = [
  'commit 9fceb02d0ae598e95dc970b74767f19372d61af8',
  'sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855',
  'id: 0199a3b2-7c44-7d1e-9f00-2a6b1c3d4e5f',
  '"integrity": "sha512-z4PhNX7vuL3xVChQ1m2AB9Yg5AULVxXcg/SpIdNs6c5H0NE8XYXysP+DGNKHfuwvY7kxvUdBeoGlODJ6+SfaPg=="',
  'const token = await readToken(session.id)',
  'max_tokens: 128000, cache_creation_input_tokens: 51234',
  'password: z.string().min(8)',
  "password: 'Enter your new password'",
  'apiKey: process.env.ANTHROPIC_API_KEY ?? ""',
  'export TOKEN=$(gh auth token)',
  'function secret(token: string): token is Secret { return token === other }',
  'postgres://app:${PASSWORD}@localhost/main',
  'see https://example.com:8080/a@b and git@github.com:owner/repo.git',
  'toolu_01A09q90qw90lq917835lq9 msg_013Zva2CMHLNnXjNJJKqJ2EF',
  'class="sk-fading-circle sk-circle12" key-value pat-tern',
]

describe('redact', () => {
  it.each(tokens)('[B1] a %s is taken out and its kind and length are told', (kind, token) => {
    for (const text of [token, `before ${token} after`, `x = [\n  ${token}\n]`]) {
      const { text: clean, found } = redact(text)
      expect(found.map((secret) => secret.kind)).toEqual([kind])
      expect(clean).toContain(`[secret:${kind}:${found[0]!.length}]`)
      expect(clean.length - clean.match(/\[secret:[^\]]*\]/)![0].length).toBe(text.length - found[0]!.length)
    }
  })

  it('[B1] a secret behind an escape is taken out: of an address, of quoted text, of both', () => {
    const kinds = ['anthropic-key', 'github-token', 'aws-key-id', 'google-oauth', 'slack-token', 'jwt']
    const escapes = [
      '%20',
      '%3D',
      '%3d',
      '%253D',
      String.raw`\u003d`,
      String.raw`\u0022`,
      String.raw`\x3d`,
      String.raw`\n`,
    ]
    const missed = kinds.flatMap((kind) => {
      const token = tokens.find(([name]) => name === kind)![1]
      return escapes.filter((escape) => redact(`to=x%3Fa${escape}${token}%26b`).found[0]?.kind !== kind)
    })
    expect(missed).toEqual([])
    expect(redact(`\\u003${tail(3)}%3g${of('ghp', '_x')}`).found).toEqual([])
  })

  it.each(harmless)('[B2] what only looks odd stays as it is: %s', (text) => {
    expect(redact(text)).toEqual({ text, found: [] })
  })

  it('[B3] redacting twice changes nothing', () => {
    const piece = fc.oneof(
      fc.constantFrom(...tokens.map(([, token]) => token), ...harmless),
      fc.string({ maxLength: 40 }),
    )
    fc.assert(
      fc.property(
        fc.array(piece, { maxLength: 12 }),
        fc.constantFrom(' ', '\n', '', '"', '='),
        (pieces, glue) => {
          const once = redact(pieces.join(glue)).text
          expect(redact(once)).toEqual({ text: once, found: [] })
        },
      ),
      { numRuns: 2000 },
    )
  })

  it('[B3] secrets without a gap between them all go', () => {
    const of = (kind: string) => tokens.find(([name]) => name === kind)![1]
    for (const kinds of [
      ['supabase-key', 'anthropic-key'],
      ['azure-client-secret', 'private-key'],
    ]) {
      const { text, found } = redact(kinds.map(of).join(''))
      expect(found.map(({ kind }) => kind).sort()).toEqual([...kinds].sort())
      expect(text).toMatch(/^\[secret:[^\]]+\]\[secret:[^\]]+\]$/)
    }
  })

  it('[B4] text in pieces is redacted as the whole would be', () => {
    const line = fc.oneof(
      fc.constantFrom(...tokens.map(([, token]) => token), ...harmless),
      fc.string({ maxLength: 300 }).map((text) => text.replaceAll('\n', ' ')),
      fc.constant('filler words of a build log '.repeat(100)),
      fc.constant(longKey),
    )
    fc.assert(
      fc.property(
        fc.array(line, { minLength: 1, maxLength: 60 }),
        fc.integer({ min: 1, max: 5000 }),
        (lines, size) => {
          const whole = lines.join('\n')
          const stream = redactingStream()
          let out = ''
          for (let at = 0; at < whole.length; at += size) out += stream.push(whole.slice(at, at + size))
          out += stream.end()
          const expected = redact(whole)
          expect(out).toBe(expected.text)
          expect(stream.found).toEqual(expected.found)
        },
      ),
      { numRuns: 200 },
    )
  })

  it('[B5] no text makes the pass slow', () => {
    const size = 16_000
    const seeds = [
      'eyJ',
      'eyJ' + tail(20) + '.',
      'sk-',
      'Bearer ',
      'password=',
      '://a:',
      '-----BEGIN PRIVATE KEY-----',
      '[secret:',
      'password = "',
      'AKIA',
      'login a password ',
      ':AA',
      '~',
      ' '.repeat(5) + ':',
    ]
    for (const seed of [...seeds, ...tokens.flatMap(([, token]) => [token, token.slice(0, -1)])]) {
      const growth = growthOf(size, (chars) => redact(seed.repeat(Math.ceil(chars / seed.length))))
      expect(growth, seed.slice(0, 20)).toBeLessThan(mostGrowth)
    }
  })

  it('[B1] a tag is recognised as one', () => {
    expect(holdsTag(redact(tokens[0]![1]).text)).toBe(true)
    expect(holdsTag('[secret] of [secret:x]')).toBe(false)
  })
})

const corpus = corpusFolder
describe.skipIf(!existsSync(corpus))(
  'redact over recorded sessions (skipped without recorded sessions)',
  () => {
    it('[B2] code and logs of real sessions hold next to nothing that looks like a secret', () => {
      let hits = 0
      for (const file of readdirSync(corpus).filter((name) => name.endsWith('.jsonl.gz'))) {
        hits += redact(gunzipSync(readFileSync(join(corpus, file))).toString()).found.length
      }
      expect(hits).toBeLessThanOrEqual(10)
    })
  },
)
