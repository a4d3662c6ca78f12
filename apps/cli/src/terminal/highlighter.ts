// Loaded when the first code is shown: see code-colors.ts.
import hljs from 'highlight.js/lib/common';

/** What a piece of code is. */
export type TokenKind = 'keyword' | 'string' | 'comment' | 'number' | 'name' | 'added' | 'removed';

/** A piece of code. */
export interface Token {
  readonly text: string;
  readonly kind?: TokenKind | undefined;
}

/** The scopes of the highlighter for each kind. Code in another scope has the kind of the code around it. */
const scopes: Readonly<Record<TokenKind, string>> = {
  keyword: 'keyword name section selector-tag',
  string: 'string regexp link code',
  comment: 'comment quote',
  number: 'number literal symbol bullet meta',
  name: 'title type built_in attr attribute selector-class selector-id',
  added: 'addition',
  removed: 'deletion',
};

const kinds = new Map<string, TokenKind | undefined>([['subst', undefined]]);
for (const kind of Object.keys(scopes) as TokenKind[])
  for (const scope of scopes[kind].split(' ')) kinds.set(scope, kind);

const entities: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', '#x27': "'" };

/** True if there are colors for a language, given by one of its names or an extension of its files. */
export function isKnown(language: string): boolean {
  return hljs.getLanguage(language) !== undefined;
}

/** Returns the tokens of code in a known language, and whether the code ends inside something, such as a comment. */
export function highlight(code: string, language: string): { tokens: Token[]; isInside: boolean } {
  const { value, _top: top } = hljs.highlight(code, { language, ignoreIllegals: true });
  const tokens: Token[] = [];
  const around: (TokenKind | undefined)[] = [undefined];
  const parts = /<span class="(?:hljs|language)-([\w-]*)[^"]*">|<\/span>|([^<]+)/g;
  for (const [tag, scope = '', html] of value.matchAll(parts)) {
    const kind = around.at(-1);
    if (html !== undefined) {
      const text = html.replaceAll(/&([\w#]+);/g, (_, name) => entities[name] ?? '');
      tokens.push({ text, kind });
    } else if (tag === '</span>') around.pop();
    else around.push(kinds.has(scope) ? kinds.get(scope) : kind);
  }
  return { tokens, isInside: top !== undefined && 'parent' in top && top.parent !== undefined };
}
