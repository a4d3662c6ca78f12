/** A proxy from the environment, in a form that is safe to display. */
export interface EnvironmentProxy {
  /** URL without user and password. */
  readonly address: string;
  /** The variable that defines it. */
  readonly variable: string;
}

type Variables = Readonly<Record<string, string | undefined>>;

/** Returns whether this version of Node can use the proxies from the environment. */
export function readsProxies(version: string): boolean {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  return major > 24 || (major === 24 && minor >= 5) || (major === 22 && minor >= 21);
}

/** Returns the proxy that Node uses for a request, by the rules of Node's `proxyEnv`. */
export function proxyOf(
  { protocol, hostname, port }: Pick<URL, 'protocol' | 'hostname' | 'port'>,
  env: Variables,
): EnvironmentProxy | undefined {
  const names = protocol === 'https:' ? ['https_proxy', 'HTTPS_PROXY'] : ['http_proxy', 'HTTP_PROXY'];
  const variable = names.find((name) => (env[name] ?? '') !== '');
  const url = variable === undefined ? null : URL.parse(env[variable] ?? '');
  if (variable === undefined || url === null) return undefined;
  const direct = (env['no_proxy'] || env['NO_PROXY'] || '').split(/[,\s]+/);
  if (direct.some((entry) => isDirect(entry.toLowerCase(), hostname.toLowerCase(), port))) return undefined;
  return { address: `${url.protocol}//${url.host}`, variable };
}

function isDirect(entry: string, hostname: string, port: string): boolean {
  if (entry === '') return false;
  if (entry === '*' || entry === hostname || entry === `${hostname}:${port}`) return true;
  return /^\*?\./.test(entry) && hostname.endsWith(entry.replace(/^\*/, ''));
}
