import { BlockList, isIP } from 'node:net';

/** IPv4 networks that do not belong to one host on the internet. */
const specialIPv4 = blockList('ipv4', [
  ...['0.0.0.0/8', '10.0.0.0/8', '100.64.0.0/10', '127.0.0.0/8', '169.254.0.0/16', '172.16.0.0/12'],
  ...['192.0.0.0/24', '192.0.2.0/24', '192.88.99.0/24', '192.168.0.0/16', '198.18.0.0/15'],
  ...['198.51.100.0/24', '203.0.113.0/24', '224.0.0.0/4', '240.0.0.0/4'],
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

/**
 * Returns whether an address belongs to a host on the internet. Loopback, private, link-local, shared, multicast,
 * reserved and documentation addresses do not, nor do IPv6 addresses that contain an IPv4 address.
 */
export function isPublicAddress(address: string): boolean {
  if (isIP(address) === 4) return !specialIPv4.check(address, 'ipv4');
  return isIP(address) === 6 && globalIPv6.check(address, 'ipv6') && !specialIPv6.check(address, 'ipv6');
}
