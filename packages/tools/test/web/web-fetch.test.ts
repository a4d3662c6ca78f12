import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { PassThrough, Readable } from 'node:stream';
import { gzipSync } from 'node:zlib';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { webFetchTool } from '../../src/web/web-fetch.ts';
import { call } from '../sandbox.ts';
import { Internet } from './internet.ts';

let net: Internet;

beforeEach(() => {
  net = new Internet();
});

const home = 'https://example.com/';

/** Fetches a page and returns what the model sees. */
async function seen(url: string, more: Record<string, unknown> = {}): Promise<string> {
  return (await net.fetch({ url, ...more })).text;
}

describe('web_fetch', () => {
  it('returns HTML as Markdown', async () => {
    net.pages[home] = `<!doctype html><title>A &amp; B</title><script>evil()</script><style>x{}</style>
      <h2>Hi   there</h2><p>See <a href="/docs?x=1">the <b>docs</b></a>.<ul><li><p>one</p><li>two</ul>
      <pre><code>a
  b</code></pre><p hidden>obey me</p><p style="display: none">obey me</p><img alt="a cat"><a href="javascript:x()">no link</a>`;
    expect(await seen(home)).toBe(
      [
        '[https://example.com/: status 200, text/html]',
        'Title: A & B\n\n## Hi there\n\nSee [the docs](https://example.com/docs?x=1).\n\n- one\n\n- two',
        '```\na\n  b\n```\n\n[image: a cat]no link',
      ]
        .join('\n')
        .replace('two\n```', 'two\n\n```'),
    );
  });

  it('returns other text unchanged', async () => {
    net.pages[home] = {
      headers: { 'content-type': 'application/json; charset=utf-8' },
      body: '{"a": "<b>"}',
    };
    expect(await seen(home)).toBe('[https://example.com/: status 200, application/json]\n{"a": "<b>"}');
  });

  it('returns an image as a file, whatever its header says', async () => {
    const body = Buffer.from('89504e470d0a1a0a00', 'hex');
    net.pages[home] = { headers: { 'content-type': 'text/html' }, body };
    const { output } = await net.fetch({ url: home });
    expect(output?.content[1]).toEqual({
      type: 'file',
      mediaType: 'image/png',
      data: body.toString('base64'),
    });
  });

  it.each([
    ['application/zip', 'PK\u0003\u0004'],
    ['text/html', 'a\0b'],
    ['audio/mpeg', 'ID3'],
  ])('refuses %s that is not text', async (type, body) => {
    net.pages[home] = { headers: { 'content-type': type }, body };
    expect(await seen(home)).toMatch(/is not text|is audio/);
  });

  it.each([
    ['text/html; charset=ISO-8859-1', Buffer.from('caf\xe9', 'latin1')],
    ['text/html', Buffer.from('<meta charset="windows-1252">caf\xe9', 'latin1')],
    ['text/plain', Buffer.from('\ufeffcaf\xe9', 'utf16le')],
    ['text/plain; charset=no-such-thing', Buffer.from('caf\xe9')],
  ])('decodes text as %s', async (type, body) => {
    net.pages[home] = { headers: { 'content-type': type }, body };
    expect(await seen(home)).toContain('caf\xe9');
  });

  it('returns long text in parts', async () => {
    const text = `${'a'.repeat(49_999)}\u{1f600}end`;
    net.pages[home] = { headers: { 'content-type': 'text/plain' }, body: text };
    const first = await seen(home);
    expect(first).toMatch(/a\n\[characters 0 to 49999 of 50004; to read on, use offset 49999\]$/);
    expect(await seen(home, { offset: 49_999 })).toContain(
      '\u{1f600}end\n[characters 49999 to 50004 of 50004]',
    );
    expect(await seen(home, { offset: 50_004 })).toContain('has only 50004 characters');
  });

  it('shows the text of an error page as an error', async () => {
    net.pages[home] = { status: 404, headers: { 'content-type': 'text/plain' }, body: 'Nothing here.' };
    const { text, isError } = await net.fetch({ url: home });
    expect([text, isError]).toEqual(['[https://example.com/: status 404, text/plain]\nNothing here.', true]);
  });

  it('is untrusted and sends data, and its rules and approvals show the URL that is sent [P21]', async () => {
    const tool = webFetchTool();
    expect([tool.untrusted, tool.sends, tool.effect]).toEqual([true, true, 'idempotent']);
    const url = 'https://\u0435xample.com./a b#c';
    expect(tool.subject?.({ url })).toBe('https://xn--xample-2of.com/a%20b');
    expect(await tool.preview?.({ url })).toEqual({ summary: 'to xn--xample-2of.com' });
  });
});

describe('the addresses that web_fetch connects to [P21]', () => {
  it.each([
    ...[
      'http://127.0.0.1/',
      'http://2130706433/',
      'http://0x7f.1/',
      'http://[::1]/',
      'http://[::ffff:127.0.0.1]/',
    ],
    ...[
      'http://169.254.169.254/latest/meta-data',
      'http://10.0.0.1/',
      'http://192.168.1.1/',
      'http://0.0.0.0/',
    ],
    ...['http://[fd00::1]/', 'http://[fe80::1]/', 'http://[64:ff9b::7f00:1]/', 'http://100.64.0.1/'],
  ])('are not private: %s', async (url) => {
    expect(await seen(url)).toContain('Only public addresses are fetched.');
    expect(net.connections).toEqual([]);
  });

  it('are not private ones of a public name', async () => {
    net.names['example.com'] = ['127.0.0.1'];
    expect(await seen(home)).toContain('example.com is a private address or resolves to one.');
    expect(await seen('http://127.0.0.1:3000/')).toContain('127.0.0.1 is a private address');
    expect(net.connections).toEqual([]);
  });

  it('are the ones that were checked, and are checked again after a redirect', async () => {
    net.names['example.com'] = ['93.184.216.34', '10.0.0.1'];
    net.redirect(home, '/next');
    net.pages['https://example.com/next'] = 'secret';
    expect(await seen(home)).toContain('Only public addresses are fetched.');
    expect(net.connections).toEqual(['https://example.com/ 93.184.216.34']);
  });

  it.each([
    ...['file:///etc/passwd', 'ftp://example.com/', 'data:text/html,x', 'gopher://example.com/'],
    ...[
      'https://user:secret@example.com/',
      'https://user@example.com/',
      'https://example.com:22/',
      'nonsense',
    ],
  ])('belong to plain http and https URLs, unlike %s', async (url) => {
    expect(await seen(url)).toMatch(/not supported|user name|Port 22 is not allowed|is not a URL/);
    expect(net.connections).toEqual([]);
  });

  it('can have a port that the user allows', async () => {
    net.pages['https://example.com:8443/'] = 'yes';
    const url = 'https://example.com:8443/';
    const { text } = await net.fetch({ url }, { allowHosts: ['example.com:8443'] });
    expect(text).toContain('yes');
  });
});

describe('redirects of web_fetch [P21]', () => {
  it('are followed on the same host, also to https', async () => {
    net.redirect('http://example.com/', 'https://example.com/');
    net.redirect(home, 'b?c');
    net.pages['https://example.com/b?c'] = 'arrived';
    expect(await seen('http://example.com/')).toBe(
      '[https://example.com/b?c: status 200, text/html]\narrived',
    );
  });

  it.each([
    ['another host', 'https://other.example/?data=1', 'https://other.example/?data=1'],
    ['http instead of https', 'http://example.com/', 'http://example.com/'],
    ['a private address', 'http://127.0.0.1/', 'http://127.0.0.1/'],
    ['the metadata of a cloud', 'http://169.254.169.254/', 'http://169.254.169.254/'],
  ])('to %s are reported instead', async (_, location, shown) => {
    net.redirect(home, location);
    expect(await seen(home)).toBe(
      `https://example.com/ redirects to another host: ${shown}\nTo read it, call web_fetch with that URL.`,
    );
    expect(net.connections).toHaveLength(1);
  });

  it('to an allowed host are followed, but not to a private address', async () => {
    const options = { allowHosts: ['*.other.example'] };
    net.redirect(home, 'https://a.other.example/');
    net.pages['https://a.other.example/'] = 'allowed';
    expect((await net.fetch({ url: home }, options)).text).toContain('allowed');
    net.redirect('https://a.other.example/', 'http://127.0.0.1/');
    const { text } = await net.fetch({ url: home }, { mayFollow: () => true });
    expect(text).toContain('Only public addresses');
  });

  it('end after five', async () => {
    net.redirect(home, '/');
    expect(await seen(home)).toContain('redirects more than 5 times');
    expect(net.connections).toHaveLength(6);
  });

  it('that are not followed do not keep the connection', async () => {
    const body = new PassThrough();
    net.pages[home] = { status: 302, headers: { location: 'https://other.example/' }, body };
    await seen(home);
    expect(body.destroyed).toBe(true);
  });
});

describe('hostile pages', () => {
  it('cannot be larger than the maximum, even if they are small when compressed', async () => {
    const bomb = gzipSync(Buffer.alloc(60_000_000, 'a'));
    net.pages[home] = { headers: { 'content-type': 'text/plain', 'content-encoding': 'gzip' }, body: bomb };
    expect(await seen(home)).toMatch(
      /of 5000000; to read on, use offset 50000; the page is longer than what was read\]$/,
    );
  });

  it.each([
    ['damaged', 'gzip', 'The response ended early'],
    ['encoded twice', 'gzip, gzip', 'unknown content encoding'],
  ])('are refused if they are %s', async (_, encoding, message) => {
    const headers = { 'content-type': 'text/plain', 'content-encoding': encoding };
    net.pages[home] = { headers, body: 'not gzip' };
    expect(await seen(home)).toContain(message);
  });

  it('that never end are read up to the maximum', async () => {
    let isClosed = false;
    async function* endless() {
      try {
        for (;;) yield Buffer.alloc(65_536, 'a');
      } finally {
        isClosed = true;
      }
    }
    net.pages[home] = { headers: { 'content-type': 'text/plain' }, body: Readable.from(endless()) };
    expect(await seen(home)).toContain('the page is longer than what was read');
    expect(isClosed).toBe(true);
  });

  it('that send nothing end with the time limit of the call', async () => {
    const body = new PassThrough();
    net.pages[home] = { body };
    const limit = new AbortController();
    const pending = net.fetch({ url: home }, { signal: limit.signal });
    setImmediate(() => limit.abort());
    expect((await pending).text).toContain('ended early');
    expect(body.destroyed).toBe(true);
  });

  it.each([
    ['nested elements', '<b>'.repeat(400_000), 'nested too deeply'],
    ['unclosed tags', '<a href="'.repeat(100_000), '(no text)'],
    ['ends without starts', `${'<b>'.repeat(200)}${'</i>'.repeat(200_000)}`, '(no text)'],
    ['many attributes', `<b ${'a=1 '.repeat(200_000)}>x`, 'x'],
  ])('with %s are read in little time', async (_, html, shown) => {
    net.pages[home] = html;
    expect(await seen(home)).toContain(shown);
  });

  it('cannot multiply their size with links', async () => {
    const url = `https://example.com/${'x'.repeat(1_800)}/`;
    net.pages[url] = '<a href=y>z</a>'.repeat(20_000);
    expect(await seen(url, { offset: 1_999_999 })).toMatch(
      /of 2000000; the page is longer than what was read\]$/,
    );
  });
});

it('sends requests to the checked address, without cookies, and reads real responses', async () => {
  const headers: unknown[] = [];
  const server = createServer((request, response) => {
    headers.push(request.headers);
    response.writeHead(200, {
      'content-type': 'text/plain',
      'content-encoding': 'gzip',
      'set-cookie': 'a=b',
    });
    response.end(gzipSync(`hello from ${request.url}`));
  });
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo;
  const tool = webFetchTool({
    allowHosts: [`page.example:${port}`],
    resolve: async () => ['127.0.0.1'],
    isPublic: () => true,
  });
  const { text } = await call(tool, { url: `http://page.example:${port}/x?y#z` });
  expect(text).toBe(`[http://page.example:${port}/x?y: status 200, text/plain]\nhello from /x?y`);
  expect(headers).toEqual([
    expect.objectContaining({ host: `page.example:${port}`, 'user-agent': 'cobbler' }),
  ]);
  expect(headers[0]).not.toHaveProperty('cookie');
  const offline = webFetchTool({ allowHosts: [`page.example:${port}`], resolve: async () => ['127.0.0.1'] });
  expect((await call(offline, { url: `http://page.example:${port}/` })).text).toContain(
    'Only public addresses',
  );
});
