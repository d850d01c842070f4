// Buttons that use a passkey. `data-passkey` is "create" or "get"; in a form that sends the passkey it is "join" (a new
// one) or "use". They stay hidden in browsers without passkeys.
const supported = globalThis.PublicKeyCredential?.parseCreationOptionsFromJSON !== undefined;

async function post(path, body) {
  const response = await fetch(path, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify(body),
  });
  if (response.redirected) {
    // To sign in, or to confirm who it is. That page leads back to this one.
    globalThis.location.assign(response.url);
    return new Promise(() => {});
  }
  if (response.status === 429) throw new Error('Too many attempts. Please wait a few minutes, then try again.');
  if (response.ok) return response.json();
  const { problem = '' } = await response.json().catch(() => ({}));
  throw new Error(problem);
}

async function make(path, about) {
  const options = PublicKeyCredential.parseCreationOptionsFromJSON(await post(path, about));
  return (await navigator.credentials.create({ publicKey: options })).toJSON();
}

async function create() {
  const credential = await make('/account/passkeys/options', {});
  return post('/account/passkeys', { credential });
}

/** Sends the form with the passkey's response and without a password. */
function sendWith(form, name, credential) {
  const field = document.createElement('input');
  field.type = 'hidden';
  field.name = name;
  field.value = JSON.stringify(credential);
  form.append(field);
  form.submit();
  // Somebody who returns to the form may choose a password instead.
  field.remove();
  return {};
}

async function join({ form, dataset }) {
  const fields = [...form.elements].filter(({ name }) => name && name !== 'password');
  if (!fields.every((field) => field.reportValidity())) return {};
  const about = Object.fromEntries(fields.map(({ name, value }) => [name, value]));
  return sendWith(form, 'credential', await make(dataset.options, about));
}

async function use({ form }) {
  return sendWith(form, 'assertion', await ask());
}

async function ask() {
  const options = PublicKeyCredential.parseRequestOptionsFromJSON(await post('/sign-in/passkey/options', {}));
  return (await navigator.credentials.get({ publicKey: options })).toJSON();
}

async function get({ dataset: { next } }) {
  return post('/sign-in/passkey', { credential: await ask(), next });
}

const actions = { create, get, join, use };

for (const button of document.querySelectorAll('[data-passkey]')) {
  button.closest('[data-passkey-area]').hidden = !supported;
  button.addEventListener('click', async () => {
    const problem = document.getElementById('passkey-problem');
    problem.hidden = true;
    button.disabled = true;
    try {
      const { location } = await actions[button.dataset.passkey](button);
      if (location) globalThis.location.assign(location);
      else button.disabled = false;
    } catch (error) {
      const known =
        error.name === 'InvalidStateError' ? 'This device already has a passkey for your account.' : error.message;
      // Somebody who closed the browser's dialog needs no explanation.
      const text = error.name === 'NotAllowedError' ? 'No passkey was used. Try again when you are ready.' : known;
      problem.textContent = text || 'This passkey was not accepted.';
      problem.hidden = false;
      button.disabled = false;
    }
  });
}
