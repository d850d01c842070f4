// The reference page: colours of light and dark, the address of this service, and both forms of the key.
const reference = document.querySelector('rapi-doc');
const dark = matchMedia('(prefers-color-scheme: dark)');

const own = new CSSStyleSheet();
reference.shadowRoot?.adoptedStyleSheets.push(own);

const narrow = new CSSStyleSheet();
narrow.replaceSync(`
  @container (max-width: 499px) {
    .tr { flex-wrap: wrap; }
    .tr .key-type { padding-left: 12px; }
    .tr .key-descr { display: block !important; flex: 1 0 100%; padding: 0 4px 6px 12px; }
  }`);

function paint() {
  const style = getComputedStyle(document.documentElement);
  const colour = (name) => style.getPropertyValue(name).trim();
  reference.setAttribute('theme', dark.matches ? 'dark' : 'light');
  reference.setAttribute('bg-color', colour('--ground'));
  reference.setAttribute('text-color', colour('--text'));
  reference.setAttribute('primary-color', colour('--accent'));
  reference.setAttribute('nav-bg-color', colour('--panel'));
  reference.setAttribute('nav-text-color', colour('--quiet'));
  reference.setAttribute('nav-hover-text-color', colour('--text'));
  reference.setAttribute('nav-accent-color', colour('--accent'));
  // What there is no attribute for.
  const [get, post, patch, remove] = dark.matches
    ? ['#7cc4ff', '#8fd694', '#e5c07b', '#ff8f88']
    : ['#1769aa', '#2f7a1f', '#8a5a00', '#b3261e'];
  own.replaceSync(`
    * {
      --inline-code-fg: ${colour('--accent')} !important;
      --blue: ${get} !important; --nav-get-color: ${get} !important;
      --green: ${post} !important; --nav-post-color: ${post} !important;
      --orange: ${patch} !important;
      --red: ${remove} !important; --nav-delete-color: ${remove} !important;
    }
    a { color: ${colour('--accent')} !important; }
    #api-info { margin-left: 0 !important; }
    #auth .red-text { color: ${colour('--quiet')} !important; }
    .api-key-input { width: min(100% - 90px, 420px) !important; }
    .nav-bar-section { display: none !important; }
    .nav-method { display: inline-block; min-width: 46px; }
    .nav-method.patch { color: ${patch} !important; }
    .nav-bar-tag { text-transform: none !important; }
    @media (max-width: 767px) {
      .section-gap--read-mode, .section-tag--read-mode { padding-left: 12px !important; padding-right: 12px !important; }
      .section-tag--read-mode .section-gap--read-mode { padding-left: 0 !important; padding-right: 0 !important; }
    }`);
}
paint();
dark.addEventListener('change', paint);

// Whatever address the document names: this page may ask only where it came from.
const base = new URL('.', location.href).href.replace(/\/$/, '');
reference.setAttribute('server-url', base);
reference.setAttribute('default-api-server', base);

/** People paste the bare key, or all of the header; blanks around it do not matter. */
export function headerOf(pasted) {
  const text = pasted.trim().replace(/^authorization:\s*/i, '');
  return text === '' || /^token\s/i.test(text) ? text : `Token token=${text}`;
}

reference.addEventListener('before-try', ({ detail: { request } }) => {
  const pasted = request.headers.get('Authorization');
  if (pasted) request.headers.set('Authorization', headerOf(pasted));
});

// On a phone there is no room for the list of operations: they are found by typing.
const search = document.querySelector('input[type=search]');
reference.addEventListener('spec-loaded', ({ detail }) => {
  const operations = (detail.tags ?? []).flatMap(({ paths }) => paths);
  document
    .querySelector('#operations')
    .replaceChildren(
      ...operations.map(({ method, path, summary }) => new Option(summary, `${method.toUpperCase()} ${path}`)),
    );
});
search.addEventListener('change', () => {
  const [method, path] = search.value.trim().split(' ');
  if (!path) return;
  reference.scrollToPath(`${method.toLowerCase()}-${path}`);
  search.blur();
});

// RapiDoc takes an example with an empty field for a list of examples, and fails: with a name, it is one.
const named = (key, value) => {
  // "Not blank", which the minimum of one character says better.
  if (key === 'pattern' && value === '\\S') return undefined;
  if (key !== 'application/json' || value.example === undefined) return value;
  const { example, ...rest } = value;
  return { ...rest, examples: { Example: { value: example } } };
};
const [text] = await Promise.all([
  fetch(reference.dataset.specUrl).then((response) => response.text()),
  customElements.whenDefined('rapi-doc'),
]);
for (const element of ['api-request', 'api-response', 'rapi-doc', 'schema-table', 'schema-tree']) mend(element);
// What endpoints are sent is in the guides: here is what one can call.
const { webhooks: _, ...called } = JSON.parse(text, named);
reference.loadSpec(called);

/** Its fields have no labels, its scrolling parts cannot be reached with the keyboard, and narrow tables hide descriptions. */
function mend(element) {
  const { prototype } = customElements.get(element) ?? {};
  if (!prototype) return;
  const { updated } = prototype;
  prototype.updated = function (...changes) {
    if (element.startsWith('schema-') && !this.shadowRoot.adoptedStyleSheets.includes(narrow)) {
      this.shadowRoot.adoptedStyleSheets.push(narrow);
    }
    for (const field of this.shadowRoot.querySelectorAll('input, select, textarea')) {
      field.ariaLabel ??= field.dataset.pname ?? (field.placeholder || field.dataset.ptype || 'Choose');
    }
    for (const part of this.shadowRoot.querySelectorAll('pre, .table, .tree, .main-content')) part.tabIndex = 0;
    return updated?.apply(this, changes);
  };
}
