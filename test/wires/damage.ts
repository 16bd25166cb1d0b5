// What other programs do to a list before it reaches us: cut, doubled, reordered, parts lost. For every wire with a list.

type Fields = Readonly<Record<string, unknown>>

/** Blows to the list under `key`; `inner` names the lists inside an element that lose a part. */
export function damageList(
  request: unknown,
  key: string,
  inner: readonly string[],
  pick: (below: number) => number,
): unknown {
  const body = request as Fields
  const list = [...(body[key] as readonly Fields[])]
  for (let blow = 0; blow <= pick(3); blow++) {
    const at = pick(list.length)
    const element = list[at]
    if (element === undefined) break
    switch (pick(7)) {
      case 0:
        list.splice(0, at)
        break
      case 1:
        list.splice(at, 1 + pick(3))
        break
      case 2:
        list.splice(at, 0, structuredClone(element))
        break
      case 3: {
        const name = inner.find((field) => Array.isArray(element[field]))
        if (name === undefined) break
        const parts = [...(element[name] as readonly unknown[])]
        parts.splice(pick(parts.length), 1)
        list[at] = { ...element, [name]: parts }
        break
      }
      case 4:
        list.splice(at)
        break
      case 5:
        list.splice(0, list.length, ...withLongIds(list))
        break
      default:
        list.push(...list.splice(at, 1))
    }
  }
  return { ...body, [key]: list }
}

/** Another server gave ids of its own length. */
const withLongIds = (list: readonly Fields[]): readonly Fields[] =>
  JSON.parse(
    JSON.stringify(list).replaceAll(
      /"(id|call_id|tool_call_id)":"(call[^"]*)"/g,
      (_, key: string, id: string) => `"${key}":"${id}${'0123456789'.repeat(6)}"`,
    ),
  ) as readonly Fields[]
