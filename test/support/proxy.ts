import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** Stands between a client and the PostgreSQL of an address, and changes what the server says. */
export async function changingProxy(
  url: string,
  change: (bytes: Buffer) => Buffer,
): Promise<{ url: string; close: () => void }> {
  const { hostname, port } = new URL(url);
  const sockets = new Set<Socket>();
  const server = createServer((client) => {
    const upstream = connect(Number(port), hostname);
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.on('error', () => undefined);
    }
    client.pipe(upstream);
    upstream.on('data', (bytes) => client.write(change(bytes))).on('end', () => client.end());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const close = () => {
    for (const socket of sockets) socket.destroy();
    server.close();
  };
  return { url: Object.assign(new URL(url), { port: (server.address() as AddressInfo).port }).href, close };
}
