import DOMPurify from 'dompurify';
import type { Tokens } from 'marked';
import { Marked } from 'marked';

/**
 * Converts Markdown of the model to safe HTML. There are four independent protections: HTML in the text is shown as
 * text, the parser's output is sanitized, the document accepts only sanitized HTML (trusted types), and the page's
 * policy runs only its own script.
 */
const marked = new Marked({
  gfm: true,
  breaks: false,
  renderer: {
    html: ({ text }: Tokens.HTML | Tokens.Tag) => escapeHtml(text),
    // Do not load external images: the address could send data of the conversation to their server.
    image({ href, text }: Tokens.Image): string {
      return linked(href, escapeHtml(text === '' ? 'image' : text));
    },
    link({ href, tokens }: Tokens.Link): string {
      return linked(href, this.parser.parseInline(tokens));
    },
    checkbox: ({ checked }: Tokens.Checkbox) => (checked ? '☑ ' : '☐ '),
    code({ text, lang }: Tokens.Code): string {
      const name = /^[\w.+#-]{1,30}/.exec(lang ?? '')?.[0] ?? '';
      return `<pre${name === '' ? '' : ` data-lang="${name}"`}><code>${escapeHtml(text)}\n</code></pre>\n`;
    },
  },
});

const cleaning = {
  ALLOWED_TAGS: [
    ...['p', 'br', 'hr', 'h1', 'h2', 'h3', 'h4', 'h5', 'h6', 'ul', 'ol', 'li', 'blockquote', 'pre', 'code'],
    ...['em', 'strong', 'del', 'a', 'table', 'thead', 'tbody', 'tr', 'th', 'td'],
  ],
  ALLOWED_ATTR: ['href', 'data-lang', 'align', 'start', 'target', 'rel'],
  ALLOW_DATA_ATTR: false,
  ALLOW_ARIA_ATTR: false,
  ALLOWED_URI_REGEXP: /^(?:https?|mailto):/i,
  ADD_URI_SAFE_ATTR: ['data-lang', 'align', 'start', 'target', 'rel'],
  RETURN_TRUSTED_TYPE: true,
};

/** Sanitized HTML: a trusted type in browsers that support it. */
export interface CleanHtml {
  readonly __html: string;
}

/** Converts Markdown to HTML that is safe to insert into the document. */
export function htmlOf(markdown: string): CleanHtml {
  const html = DOMPurify.sanitize(marked.parse(markdown, { async: false }), cleaning);
  return { __html: html as unknown as string };
}

/** Returns code with colors as HTML that is safe to insert into the document. */
export function codeHtmlOf(html: string): CleanHtml {
  const only = { ALLOWED_TAGS: ['span'], ALLOWED_ATTR: ['class'], RETURN_TRUSTED_TYPE: true };
  return { __html: DOMPurify.sanitize(html, { ...cleaning, ...only }) as unknown as string };
}

const known = new Map<string, CleanHtml>();

/** Maximum number of cached texts: about as many as a user scrolls through. */
const maxKnown = 200;

/** Does the same with a cache, for text that does not change, so that scrolling converts it only once. */
export function keptHtmlOf(markdown: string): CleanHtml {
  const before = known.get(markdown);
  if (before !== undefined) return before;
  const html = htmlOf(markdown);
  if (known.size >= maxKnown)
    for (const oldest of [...known.keys()].slice(0, maxKnown / 4)) known.delete(oldest);
  known.set(markdown, html);
  return html;
}

function linked(href: string, html: string): string {
  return /^(?:https?|mailto):/i.test(href.trim())
    ? `<a href="${escapeHtml(href)}" target="_blank" rel="noopener noreferrer">${html}</a>`
    : html;
}

const names: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (char) => names[char] ?? char);
}
