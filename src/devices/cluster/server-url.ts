/** URLs of NATS servers, apart from the device: whoever names a device may name one. */

const URL_OF_SERVER = /^(nats|tls|wss?):\/\/[^\s/,]+(\/[\w-]{0,64})?$/;

/** Whether a text is the URL of a NATS server. */
export function isServer(text: unknown): boolean {
  return typeof text === 'string' && URL_OF_SERVER.test(text) && URL.canParse(text);
}
