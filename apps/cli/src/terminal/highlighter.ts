import hljs from 'highlight.js/lib/core';
import bash from 'highlight.js/lib/languages/bash';
import c from 'highlight.js/lib/languages/c';
import cpp from 'highlight.js/lib/languages/cpp';
import csharp from 'highlight.js/lib/languages/csharp';
import css from 'highlight.js/lib/languages/css';
import diff from 'highlight.js/lib/languages/diff';
import dockerfile from 'highlight.js/lib/languages/dockerfile';
import go from 'highlight.js/lib/languages/go';
import ini from 'highlight.js/lib/languages/ini';
import java from 'highlight.js/lib/languages/java';
import javascript from 'highlight.js/lib/languages/javascript';
import json from 'highlight.js/lib/languages/json';
import kotlin from 'highlight.js/lib/languages/kotlin';
import makefile from 'highlight.js/lib/languages/makefile';
import markdown from 'highlight.js/lib/languages/markdown';
import php from 'highlight.js/lib/languages/php';
import python from 'highlight.js/lib/languages/python';
import ruby from 'highlight.js/lib/languages/ruby';
import rust from 'highlight.js/lib/languages/rust';
import scss from 'highlight.js/lib/languages/scss';
import sql from 'highlight.js/lib/languages/sql';
import swift from 'highlight.js/lib/languages/swift';
import typescript from 'highlight.js/lib/languages/typescript';
import xml from 'highlight.js/lib/languages/xml';
import yaml from 'highlight.js/lib/languages/yaml';

// This module is loaded when the first code is shown: see code-colors.ts.

const languages = {
  ...{ bash, c, cpp, csharp, css, diff, dockerfile, go, ini, java, javascript, json, kotlin, makefile },
  ...{ markdown, php, python, ruby, rust, scss, sql, swift, typescript, xml, yaml },
};
for (const [name, language] of Object.entries(languages)) hljs.registerLanguage(name, language);

/** What a piece of code is. */
export type TokenKind = 'keyword' | 'string' | 'comment' | 'number' | 'name' | 'added' | 'removed';

/** A piece of code. */
export interface Token {
  readonly text: string;
  readonly kind?: TokenKind | undefined;
}

/** The kinds of the highlighter's scopes; other scopes have the kind of the code around them. */
const kinds: Readonly<Record<string, TokenKind | undefined>> = {
  keyword: 'keyword',
  name: 'keyword',
  section: 'keyword',
  'selector-tag': 'keyword',
  string: 'string',
  regexp: 'string',
  link: 'string',
  code: 'string',
  comment: 'comment',
  quote: 'comment',
  number: 'number',
  literal: 'number',
  symbol: 'number',
  bullet: 'number',
  meta: 'number',
  title: 'name',
  type: 'name',
  built_in: 'name',
  attr: 'name',
  attribute: 'name',
  'selector-class': 'name',
  'selector-id': 'name',
  addition: 'added',
  deletion: 'removed',
  subst: undefined,
};

const entities: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', '#x27': "'" };

/** True if there are colors for a language, given by its name, another name of it, or an extension of its files. */
export function isKnown(language: string): boolean {
  return hljs.getLanguage(language) !== undefined;
}

/** Returns the tokens of code in a known language, and whether the code ends inside something, such as a comment. */
export function highlight(code: string, language: string): { tokens: Token[]; isInside: boolean } {
  const { value, _top: top } = hljs.highlight(code, { language, ignoreIllegals: true });
  const tokens: Token[] = [];
  const around: (TokenKind | undefined)[] = [undefined];
  for (const [tag, scope, text] of value.matchAll(
    /<span class="(?:hljs|language)-([\w-]*)[^"]*">|<\/span>|([^<]+)/g,
  )) {
    if (text !== undefined)
      tokens.push({
        text: text.replaceAll(/&([\w#]+);/g, (_, name) => entities[name] ?? ''),
        kind: around.at(-1),
      });
    else if (tag === '</span>') around.pop();
    else around.push(scope !== undefined && scope in kinds ? kinds[scope] : around.at(-1));
  }
  return { tokens, isInside: top !== undefined && 'parent' in top && top.parent !== undefined };
}
