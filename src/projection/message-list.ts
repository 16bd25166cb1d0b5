export interface MessageList { readonly length: number }
