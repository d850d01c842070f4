/**
 * The currencies of ISO 4217 (2026) that have hundredths, without codes of funds and metals. All sums are integer cents, shown with two
 * decimals: yen or dinars would be off by factors. Written out, because CLDR, on which Intl relies, rounds forints and others to whole units.
 */
export const CURRENCIES: ReadonlySet<string> = new Set(
  (
    'AED AFN ALL AMD AOA ARS AUD AWG AZN BAM BBD BDT BMD BND BOB BRL BSD BTN BWP BYN BZD CAD CDF CHF CNY COP CRC CUP CVE CZK DKK DOP ' +
    'DZD EGP ERN ETB EUR FJD FKP GBP GEL GHS GIP GMD GTQ GYD HKD HNL HTG HUF IDR ILS INR IRR JMD KES KGS KHR KPW KYD KZT LAK LBP LKR ' +
    'LRD LSL MAD MDL MGA MKD MMK MNT MOP MRU MUR MVR MWK MXN MYR MZN NAD NGN NIO NOK NPR NZD PAB PEN PGK PHP PKR PLN QAR RON RSD RUB ' +
    'SAR SBD SCR SDG SEK SGD SHP SLE SOS SRD SSP STN SVC SYP SZL THB TJS TMT TOP TRY TTD TWD TZS UAH USD UYU UZS VED VES WST XCD XCG ' +
    'YER ZAR ZMW ZWG'
  ).split(' '),
);

/** Whether a new organization can have this currency. */
export const isCurrency = (code: string): boolean => CURRENCIES.has(code);
