/** The name of the key in this origin's storage, and of the request header. */
const name = 'cobbler-page';

/** Keeps the key of the cookie for this origin: browsers send the cookie to every port of the host, and the key to none. */
export function keepPageKey(key: string): void {
  localStorage.setItem(name, key);
}

/** The headers of every request of the page; none before sign-in. */
export function pageKeyHeader(): Readonly<Record<string, string>> {
  const key = localStorage.getItem(name);
  return key === null ? {} : { [name]: key };
}
