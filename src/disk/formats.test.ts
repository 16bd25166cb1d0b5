import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { formats, randomFrom, secretRuns, secretSeed } from '../../test/secret-formats.ts'
import { redact } from './redact.ts'
import { growthOf, mostGrowth } from '../../test/until.ts'

describe(`formats of secrets (SECRET_SEED=${secretSeed}, ${formats.length} formats, ${secretRuns} values each)`, () => {
  it('[B6] are at least seventy', () => expect(formats.length).toBeGreaterThanOrEqual(70))

  it.each(formats)('[B6] nothing is left of: $name', ({ make }) => {
    const random = randomFrom(secretSeed)
    const left: string[] = []
    for (let run = 0; run < secretRuns; run++) {
      const { text, parts } = make(random)
      const clean = redact(text).text
      if (parts.some((part) => clean.includes(part.slice(0, 12)))) left.push(text)
    }
    expect(left).toEqual([])
  })
})

/** Ordinary text that speaks of passwords and tokens, or looks odd. */
const ordinary = [
  'password = getPassword()',
  'const password = await readPassword(user.id)',
  'password: string',
  'password?: string | undefined',
  '- `password: string` — the password of the user',
  'interface Login { user: string; password: string; token: AuthenticationTokenProvider }',
  "password: z.string().min(8, 'At least 8 characters')",
  '"password": "Must be at least 8 characters long"',
  '"password": "Passwort", "token": "Zugriffsschlüssel"',
  "label: 'Password', password: 'Enter your new password'",
  'if (password === other.password) return token',
  'POSTGRES_PASSWORD=postgres',
  'MYSQL_ROOT_PASSWORD: root',
  'DB_PASSWORD=${DB_PASSWORD:-changeme}',
  'DB_PASSWORD=changeme',
  'API_TOKEN=your-token-here',
  'API_KEY=<your api key>',
  'const TOKEN = createTokenFactory(options)',
  'export const API_TOKEN=createAuthenticationToken;',
  'token: process.env.GITHUB_TOKEN',
  'token: ${{ secrets.GITHUB_TOKEN }}',
  'PASSWORD_FILE=/run/secrets/db_password',
  'DB_PASSWORD=/run/secrets/db_password',
  'PWD=/home/me/project7a9x3y',
  "env: { PWD: '/Users/maciej', HOME: '/Users/maciej' }",
  'docker run -u 1000:1000 --user 1000:1000 -p 8080:80 image',
  'ls -u a:b; ps -p 12345; mkdir -p src/deep/folder',
  'mysql -p -h localhost -P 3306',
  'curl -u "$USER:$PASS" https://example.test',
  'sshpass -p "$PASSWORD" ssh host',
  'tar -a -cf x.tar; redis-cli -p 6379 ping',
  'Set-Cookie: theme=dark; Path=/',
  'Cookie: name=value; other=value2',
  'res.cookie = parseCookie(header)',
  '<password>string</password>',
  '<Token>{token}</Token>',
  'Promise<Token>(resolve => resolve(token))',
  'see https://example.com:8080/a@b and http://localhost:port/@vite/client',
  'git clone ssh://git@host:22/~me@x',
  'import a from "https://esm.sh/react@18"',
  'commit 9fceb02d0ae598e95dc970b74767f19372d61af8',
  'index 3f9a0c7..be1d258 100644',
  'id: 0199a3b2-7c44-7d1e-9f00-2a6b1c3d4e5f',
  '"integrity": "sha512-z4PhNX7vuL3xVChQ1m2AB9Yg5AULVxXcg/SpIdNs6c5H0NE8XYXysP+DGNKHfuwvY7kxvUdBeoGlODJ6+SfaPg=="',
  'resolved "https://packages.example.test/lodash/-/lodash-4.17.21.tgz#679591c564c3bffaae8454cf0b3df370c3d6911c"',
  'github.com/stretchr/testify v1.8.4 h1:CcVxjf3Q8PM0mHUKJCdn+eZZtm5yQwehR5yeSVQQcUk=',
  'certificate-authority-data: LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0tCk1JSUM1ekNDQWMrZ0F3SUJBZ0lCQVRBTkJn',
  '-----BEGIN CERTIFICATE-----',
  'The secret: keep it simple. The key: patience. A token: of love.',
  'primary_key = "user_id", foreign_key: account_identifier_number',
  '\u001B[32mpassword\u001B[0m: \u001B[33mstring\u001B[0m',
  '\u001B[1m9fceb02d0ae598e95dc970b74767f19372d61af8\u001B[0m token ok',
  'Authorization: Bearer <token>',
  'Authorization: `Bearer ${token}`',
  'headers.authorization = buildAuthorizationHeader(request)',
]

describe('ordinary text', () => {
  it.each(ordinary)('[B2] stays as it is: %s', (text) => {
    for (const around of [text, `a\n  ${text}\nb`, `12\t${text}`])
      expect(redact(around)).toEqual({ text: around, found: [] })
  })

  it('[B2] the code that takes secrets out stays as it is', () => {
    for (const file of [
      'redact.ts',
      'redact-stream.ts',
      'secret-shapes.ts',
      'secrets/values.ts',
      'secrets/noise.ts',
    ])
      expect([file, redact(readFileSync(join(import.meta.dirname, file), 'utf8')).found]).toEqual([file, []])
    const whole = ['redact.ts', 'redact-stream.ts', 'redact.ts'].map((file) =>
      readFileSync(join(import.meta.dirname, file), 'utf8'),
    )
    expect(redact(whole.join('\n')).found).toEqual([])
  })

  it('[B2] a lockfile and the pages of this repository stay as they are', () => {
    const root = join(import.meta.dirname, '..', '..')
    for (const file of [
      'package-lock.json',
      'README.md',
      'ARCHITECTURE.md',
      'SPEC.md',
      'docs/permissions.md',
    ])
      expect([file, redact(readFileSync(join(root, file), 'utf8')).found]).toEqual([file, []])
  })
})

describe('time', () => {
  it('[B5] grows as the text does, for whatever begins like a secret', () => {
    const pieces = [
      '-u a',
      '-p',
      'curl -u ',
      'mysql -p',
      'sshpass -p ',
      'pass:',
      'Cookie: a=',
      'Set-Cookie: a=b; ',
      'sl.',
      'Private-Lines: 8\nAAAA\n',
      'client-key-data: ',
      '<password>',
      '<password>a</password',
      '://a:b/',
      '\u001B[31m',
      '\u001B[',
      'DB_PASSWORD="',
      'DB_PASSWORD=',
      'password: "a b ',
      'Authorization: a ',
      'LS0tLS1CRUdJTiB',
      ...formats.map(({ make }) => make(randomFrom(1)).text),
    ]
    for (const piece of pieces) {
      const growth = growthOf(20_000, (size) => redact(piece.repeat(Math.ceil(size / piece.length))))
      expect(growth, piece.slice(0, 40)).toBeLessThan(mostGrowth)
    }
  })
})
