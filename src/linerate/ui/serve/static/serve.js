"use strict";
(function () {
	// Before anything is drawn, so that nothing flashes.
	const schemes = { "": "as the system", light: "light", dark: "dark" };
	const root = document.documentElement;
	let scheme = "";
	try {
		scheme = localStorage.getItem("scheme") || "";
	} catch {
		// Where nothing may be kept, the system's colours stay.
	}
	function apply() {
		if (!(scheme in schemes)) scheme = "";
		if (scheme) root.dataset.scheme = scheme;
		else delete root.dataset.scheme;
		const button = document.getElementById("scheme");
		if (button) button.textContent = `Colours: ${schemes[scheme]}`;
	}
	apply();
	document.addEventListener("DOMContentLoaded", () => {
		apply();
		document.getElementById("scheme").addEventListener("click", () => {
			const names = Object.keys(schemes);
			scheme = names[(names.indexOf(scheme) + 1) % names.length];
			try {
				localStorage.setItem("scheme", scheme);
			} catch {
				// As above.
			}
			apply();
		});
	});
})();
