import { existsSync, globSync, readFileSync, statSync } from 'node:fs';
import { join, posix } from 'node:path';

/** Returns each link in a built site whose page or anchor does not exist, as `page -> link`. */
export function deadLinks(folder: string): string[] {
  const pages = new Map(
    globSync('**/*.html', { cwd: folder }).map((file) => {
      const html = readFileSync(join(folder, file), 'utf8');
      return [file.replaceAll('\\', '/'), { html, places: new Set(attributes(html, 'id')) }];
    }),
  );
  return [...pages].flatMap(([page, { html }]) =>
    [...new Set(attributes(html, 'href'))]
      .filter((href) => !leads(href, page))
      .map((href) => `${page} -> ${href}`),
  );

  function leads(href: string, page: string): boolean {
    if (/^([a-z]+:|\/\/)/i.test(href)) return true;
    const [path = '', place] = decodeURI(href).split('#');
    const file = path === '' ? page : fileOf(posix.join('/', posix.dirname(page), path), path);
    const target = pages.get(file);
    if (target === undefined) return place === undefined && existsSync(join(folder, file)) && isFile(file);
    return place === undefined || place === '' || target.places.has(place);
  }

  /** Resolves a directory to its index page, as file servers do. */
  function fileOf(relative: string, path: string): string {
    const file = (path.startsWith('/') ? posix.normalize(path) : relative).slice(1);
    return file === '' || file.endsWith('/') ? `${file}index.html` : file;
  }

  function isFile(file: string): boolean {
    return statSync(join(folder, file)).isFile();
  }
}

function attributes(html: string, name: string): string[] {
  return [...html.matchAll(new RegExp(` ${name}="([^"]*)"`, 'g'))].map(([, value = '']) =>
    value.replaceAll('&amp;', '&').replaceAll('&quot;', '"').replaceAll('&#39;', "'"),
  );
}
