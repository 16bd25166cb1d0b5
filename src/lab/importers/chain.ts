// Which records of a file with parent links belong to the conversation that the last record stands in, when links may be
// broken. A parent that is nowhere in the file, or in a side chain, begins an island: it is joined to what stands
// before it in the file. Order is always file order, because times of late writers lie.

export interface Link {
  readonly id: string
  readonly parent: string | null
  /** Another record of the same response or batch: standing beside it under one parent is no branch. */
  readonly group: string
  /** Bookkeeping is walked through and never kept as a branch of its own. */
  readonly isConversation: boolean
}

export interface Chain {
  /** Indices of the links on the line to the last conversation record, both ends included. */
  readonly line: ReadonlySet<number>
  readonly islandsJoined: number
  readonly branches: number
}

export function chainOf(links: readonly Link[]): Chain {
  const indexOf = new Map(links.map((link, index) => [link.id, index]))
  const parents = links.map((link, index) => parentOf(link, index, indexOf))
  return {
    line: lineTo(
      links.findLastIndex((link) => link.isConversation),
      parents,
    ),
    islandsJoined: parents.filter(({ isIsland }) => isIsland).length,
    branches: branchesOf(links, parents),
  }
}

interface Parent {
  readonly index: number | null
  readonly isIsland: boolean
}

// A parent that stands later in the file would make a circle possible: it counts as missing.
function parentOf(link: Link, index: number, indexOf: ReadonlyMap<string, number>): Parent {
  if (link.parent === null) return { index: index === 0 ? null : index - 1, isIsland: false }
  const found = indexOf.get(link.parent)
  if (found !== undefined && found < index) return { index: found, isIsland: false }
  return { index: index === 0 ? null : index - 1, isIsland: index > 0 }
}

function lineTo(last: number, parents: readonly Parent[]): ReadonlySet<number> {
  const line = new Set<number>()
  for (
    let index: number | null = last < 0 ? null : last;
    index !== null;
    index = parents[index]?.index ?? null
  )
    line.add(index)
  return line
}

function branchesOf(links: readonly Link[], parents: readonly Parent[]): number {
  // Bookkeeping between two conversation records is passed over; a parent stands before its child, so one pass is enough.
  const conversationParents: (number | null)[] = []
  const childGroups = new Map<number, Set<string>>()
  links.forEach((link, index) => {
    const parent = parents[index]?.index ?? null
    const conversation =
      parent === null
        ? null
        : links[parent]?.isConversation === true
          ? parent
          : (conversationParents[parent] ?? null)
    conversationParents.push(conversation)
    if (!link.isConversation || conversation === null || link.group === links[conversation]?.group) return
    childGroups.set(conversation, (childGroups.get(conversation) ?? new Set()).add(link.group))
  })
  let branches = 0
  for (const groups of childGroups.values()) branches += groups.size - 1
  return branches
}
