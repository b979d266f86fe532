"use strict";
(function () {
	const section = document.getElementById("campaigns");
	const SOON_MS = 2000;
	// A page that no one sees asks for nothing.
	const seen = () => document.visibilityState === "visible";

	async function look() {
		try {
			const answer = await fetch(location.href, { headers: { Accept: "text/html" } });
			if (!answer.ok) return;
			const made = new DOMParser().parseFromString(await answer.text(), "text/html").getElementById("campaigns");
			// An unchanged section keeps its focus and its scrolling.
			if (made && made.innerHTML !== section.dataset.last) {
				section.dataset.last = made.innerHTML;
				replace(made);
			}
			delete section.dataset.lost;
		} catch {
			section.dataset.lost = "yes";
		}
	}

	function replace(made) {
		const held = document.activeElement?.closest("#campaigns a")?.getAttribute("href");
		const scrolled = [...section.querySelectorAll(".scroll")].map((one) => one.scrollLeft);
		section.replaceChildren(...made.childNodes);
		section.querySelectorAll(".scroll").forEach((one, at) => { one.scrollLeft = scrolled[at] || 0; });
		if (held) section.querySelector(`a[href="${CSS.escape(held)}"]`)?.focus();
	}

	async function watch() {
		if (seen()) await look();
		setTimeout(watch, SOON_MS);
	}
	section.dataset.last = section.innerHTML;
	setTimeout(watch, SOON_MS);
})();
