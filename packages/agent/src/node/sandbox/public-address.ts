import { lookup } from 'node:dns/promises';
import { BlockList, isIP } from 'node:net';
import { networkInterfaces } from 'node:os';
import { read, text } from '../../values/input.ts';

/** IPv4 networks that do not belong to one host on the internet. */
const specialIPv4 = blockList('ipv4', [
  ...['0.0.0.0/8', '10.0.0.0/8', '100.64.0.0/10', '127.0.0.0/8', '169.254.0.0/16', '172.16.0.0/12'],
  ...['192.0.0.0/24', '192.0.2.0/24', '192.88.99.0/24', '192.168.0.0/16', '198.18.0.0/15'],
  ...['198.51.100.0/24', '203.0.113.0/24', '224.0.0.0/4', '240.0.0.0/4'],
  // The services of Azure's host machine.
  '168.63.129.16/32',
]);
/** The only IPv6 network that is routed on the internet, and those inside it that can contain other addresses. */
const globalIPv6 = blockList('ipv6', ['2000::/3']);
const specialIPv6 = blockList('ipv6', ['2001::/23', '2001:db8::/32', '2002::/16', '3fff::/20']);

function blockList(family: 'ipv4' | 'ipv6', networks: readonly string[]): BlockList {
  const list = new BlockList();
  for (const network of networks) {
    const [address = '', bits] = network.split('/');
    list.addSubnet(address, Number(bits), family);
  }
  return list;
}

interface OwnAddress {
  readonly address: string;
  readonly family: string;
  readonly cidr: string | null;
}

type Interfaces = Readonly<Record<string, readonly OwnAddress[] | undefined>>;

/**
 * Returns whether an address belongs to another host on the internet. Loopback, private, link-local, shared, multicast,
 * reserved and documentation addresses do not. Nor do IPv6 addresses that contain an IPv4 address, addresses of this
 * machine, or addresses in the IPv6 networks that it is part of.
 */
export function isPublicAddress(address: string): boolean {
  return isPublicBeside(networkInterfaces(), read(address, text, 'address'));
}

/** The same for a machine with these network interfaces. */
export function isPublicBeside(interfaces: Interfaces, address: string): boolean {
  const family = isIP(address);
  if (family === 0) return false;
  if (ownNetworks(interfaces).check(address, family === 4 ? 'ipv4' : 'ipv6')) return false;
  if (family === 4) return !specialIPv4.check(address, 'ipv4');
  return globalIPv6.check(address, 'ipv6') && !specialIPv6.check(address, 'ipv6');
}

function ownNetworks(interfaces: Interfaces): BlockList {
  const own = new BlockList();
  for (const { address, family, cidr } of Object.values(interfaces).flatMap((list) => list ?? [])) {
    if (family === 'IPv4') own.addAddress(address, 'ipv4');
    else own.addSubnet(address, Number(cidr?.split('/')[1] ?? 128), 'ipv6');
  }
  return own;
}

/** Resolves with the addresses of a name, as the resolver of the system knows them. Rejects if there is none. */
export async function resolveHost(host: string): Promise<readonly string[]> {
  return (await lookup(host, { all: true })).map(({ address }) => address);
}
