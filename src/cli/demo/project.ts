// The little repository of the demo and what its user asks for. The code, its faults and the tests are real; only the
// model is scripted: it follows the steps in each prompt and understands nothing.
import { mkdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'

const cart = `import { round } from './money.js'

/** The price of everything in a cart, in euros. */
export function total(items) {
  let sum = 0
  for (const item of items) sum += item.price
  return round(sum)
}
`
const money = `/** To whole cents. */
export function round(value) {
  return Math.round(value * 100) / 100
}
`
const cartTest = `import assert from 'node:assert'
import test from 'node:test'
import { total } from '../src/cart.js'

test('counts the quantity', () => {
  assert.equal(total([{ price: 2.5, quantity: 3 }, { price: 1, quantity: 1 }]), 8.5)
})

test('an empty cart costs nothing', () => {
  assert.equal(total([]), 0)
})
`
const discountTest = `import assert from 'node:assert'
import test from 'node:test'
import { discounted } from '../src/discount.js'

test('takes ten per cent off above a hundred', () => {
  assert.equal(discounted(200), 180)
})

test('leaves small sums alone', () => {
  assert.equal(discounted(99.99), 99.99)
})`

const orderLines = 900
const dayFiles = 6
const dayLines = 110

/** Orders as a shop would log them; the same in every run. */
function orders(from: number, count: number): string {
  const goods = ['pencil', 'notebook', 'eraser', 'ruler', 'inkwell', 'parchment', 'pumice', 'quill']
  const lines = Array.from({ length: count }, (_, at) => {
    const number = from + at
    const item = goods[(number * 7) % goods.length]
    const quantity = 1 + ((number * 13) % 9)
    const price = (((number * 37) % 500) / 10 + 0.5).toFixed(2)
    return `order=${number} item=${item} quantity=${quantity} price=${price} status=${number % 97 === 0 ? 'refused' : 'paid'}`
  })
  return `${lines.join('\n')}\n`
}

export async function makeProject(folder: string): Promise<void> {
  const files: Record<string, string> = {
    'package.json': '{ "name": "till", "version": "1.0.0", "type": "module", "private": true }\n',
    'src/cart.js': cart,
    'src/money.js': money,
    'test/cart.test.js': cartTest,
    'logs/orders.log': orders(1, orderLines),
  }
  for (let day = 1; day <= dayFiles; day++) files[`logs/day-${day}.log`] = orders(day * 1000, dayLines)
  for (const [name, text] of Object.entries(files)) {
    const path = join(folder, name)
    await mkdir(dirname(path), { recursive: true })
    await writeFile(path, text)
  }
}

const fix = `The tests of this shop fail. Find out why and fix it.
<task name="fix">
1. list **/*.js
2. read src/cart.js
3. also read test/cart.test.js
4. run node --test
5. if failed: edit src/cart.js "sum += item.price" -> "sum += item.price * item.quantity"
6. run node --test
7. say The total left out the quantity; with it every test passes.
</task>`

const investigate = `Some orders were refused. Look through the logs and tell me which.
<task name="logs">
1. run cat logs/orders.log
2. run cat logs/day-1.log
3. also run cat logs/day-2.log
4. also run cat logs/day-3.log
5. read logs/day-4.log
6. also read logs/day-5.log
7. read logs/day-6.log
8. search "refused" in logs
9. say Every 97th order is refused; the search lists them.
</task>`

/** The third turn begins by letting go of the first: its id is known when it has been sent. */
const extend = (
  first: string,
): string => `Now give ten per cent off on sums above a hundred, with tests, and write the refused orders down.
<task name="discount">
1. call Snip {"ids": ["${first}"], "reason": "the first bug is fixed"}
2. write test/discount.test.js
<<<
${discountTest}
>>>
3. run node --test
4. if failed: read src/money.js
5. write src/discount.js
<<<
import { round } from './money.js'

/** Ten per cent off above a hundred. */
export function discounted(sum) {
  return sum > 100 ? round(sum * 0.9) : sum
}
>>>
6. run node --test
7. run grep -h refused logs/orders.log > refused.txt && wc -l refused.txt
8. read src/cart.js
9. say The discount is in src/discount.js with its tests; refused.txt lists the refused orders.
</task>`

const reportLines = 130
const report = Array.from(
  { length: reportLines },
  (_, at) =>
    `- Order ${(at + 1) * 97} was refused at the till; call the customer and offer to send it again.`,
).join('\n')

/** What is written stands in the context twice and cannot be cleared like a result: the last layer has to act. */
const conclude = `Put this list into calls.md, and check that it is whole.
<task name="calls">
1. write calls.md
<<<
${report}
>>>
2. run wc -l calls.md
3. read calls.md
4. run tail -n 1 calls.md
5. say calls.md holds ${reportLines} lines.
</task>`

/** What the user of the demo says, turn by turn; `first` is the id of the first message. */
export const prompts: readonly ((first: string) => string)[] = [
  () => fix,
  () => investigate,
  extend,
  () => conclude,
]

/** The part a person would have typed. */
export const spoken = (prompt: string): string => prompt.slice(0, prompt.indexOf('\n'))
