// Words of others stand in the view between two tags that their own words cannot close.

export const safeFence = (tag: string, text: string): string =>
  `<${tag}>\n${text.replaceAll(new RegExp(`<(/?)${tag}`, 'gi'), `<$1 ${tag}`)}\n</${tag}>`
